#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives tfprof mcp with the official Python SDK, in each way to negotiate the revision. Needs the package mcp.

    tests/mcp/sdk_run.py --program build/check/tfprof
"""
import asyncio
import json
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'check')]
import cases  # noqa: E402
import mcp  # noqa: E402
from mcp.client.client import Client  # noqa: E402
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402
from questions import QUESTIONS  # noqa: E402


async def ask(mode):
    """Lists everything, asks all questions, and makes a call that is refused."""
    server = StdioServerParameters(command=ARGS.program, args=['mcp', '--allow', cases.TESTDATA])
    async with Client(stdio_client(server), mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert [t.name for t in tools][0] == 'open' and len(tools) == 8, tools
        resources = (await client.list_resources()).resources
        assert (await client.read_resource(str(resources[0].uri))).contents
        assert (await client.list_prompts()).prompts
        for question, calls, answer_of, expected in QUESTIONS:
            answers = []
            for tool, arguments in calls:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, (question, result)
                answers.append(json.loads(result.content[0].text))
            cases.equal(answer_of(*answers), expected, question)
        result = await client.call_tool('table', {'file': 'no_such_file', 'view': 'op'})
        assert result.is_error and 'does not exist' in result.content[0].text, result
        try:
            await client.call_tool('table', {'file': '/etc/passwd', 'view': 'op'})
            raise AssertionError('a path outside was accepted')
        except mcp.MCPError as e:
            assert 'outside' in str(e), e
        return client.protocol_version


def automatic():
    """The SDK finds revision 2026-07-28 by itself, and all 40 questions are answered."""
    cases.equal(asyncio.run(ask('auto')), '2026-07-28')


def handshake():
    """With initialize, the SDK negotiates 2025-11-25, and all 40 questions are answered."""
    cases.equal(asyncio.run(ask('legacy')), '2025-11-25')


if __name__ == '__main__':
    ARGS = cases.arguments(__doc__)
    sys.exit(cases.run([automatic, handshake]))
