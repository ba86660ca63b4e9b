# SPDX-License-Identifier: Apache-2.0
"""Reads the headers of 64-bit Mach-O files: the processor, libraries, oldest system, exported symbols and the signature."""
import hashlib
import struct

LC_LOAD_DYLIB, LC_ID_DYLIB, LC_CODE_SIGNATURE, LC_BUILD_VERSION = 0xc, 0xd, 0x1d, 0x32
LC_DYLD_INFO_ONLY, LC_DYLD_EXPORTS_TRIE = 0x80000022, 0x80000033
MAGIC, MAGIC_SIGNATURE, MAGIC_CODE_DIRECTORY = 0xfeedfacf, 0xfade0cc0, 0xfade0c02
ADHOC = 2  # flag of a signature without an identity
SHA256 = 2


class MachO:
    def __init__(self, path):
        with open(path, 'rb') as f:
            self.data = f.read()
        magic, self.cpu, _, self.kind, count = struct.unpack_from('<5I', self.data)
        assert magic == MAGIC, (path, hex(magic))
        self.needed, self.name, self.oldest, self.exports, self.signature = set(), None, None, {}, None
        at = 32
        for _ in range(count):
            command, size = struct.unpack_from('<2I', self.data, at)
            self._take(command, at)
            at += size

    def _text(self, at):
        return self.data[at:self.data.index(b'\0', at)].decode()

    def _take(self, command, at):
        def number(offset):
            return struct.unpack_from('<I', self.data, at + offset)[0]

        if command == LC_LOAD_DYLIB:
            self.needed.add(self._text(at + number(8)))
        elif command == LC_ID_DYLIB:
            self.name = self._text(at + number(8))
        elif command == LC_BUILD_VERSION:
            self.oldest = number(12) >> 16
        elif command == LC_CODE_SIGNATURE:
            self.signature = number(8)
        elif command == LC_DYLD_INFO_ONLY and number(44):
            self._take_exports(number(40), number(40), '')
        elif command == LC_DYLD_EXPORTS_TRIE and number(12):
            self._take_exports(number(8), number(8), '')

    def _uleb(self, at):
        value = shift = 0
        while True:
            byte = self.data[at]
            value |= (byte & 0x7f) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at

    def _take_exports(self, top, at, name):
        """Adds the symbols of a node of the tree of names, and of its children: {name: flags}."""
        size, at = self._uleb(at)
        if size:
            self.exports[name] = self._uleb(at)[0]
        at += size
        children, at = self.data[at], at + 1
        for _ in range(children):
            part = self._text(at)
            to, at = self._uleb(at + len(part) + 1)
            self._take_exports(top, top + to, name + part)

    def check_signature(self):
        """Asserts that the file has a signature without an identity, and that the hashes of its pages are right."""
        assert self.signature, 'no signature'
        top = self.signature
        magic, _, count = struct.unpack_from('>3I', self.data, top)
        assert magic == MAGIC_SIGNATURE, hex(magic)
        places = [top + struct.unpack_from('>2I', self.data, top + 12 + 8 * i)[1] for i in range(count)]
        at = next(p for p in places if struct.unpack_from('>I', self.data, p)[0] == MAGIC_CODE_DIRECTORY)
        _, _, _, flags, hashes, _, _, pages, limit = struct.unpack_from('>9I', self.data, at)
        size, kind, _, page = struct.unpack_from('4B', self.data, at + 36)
        assert flags & ADHOC and kind == SHA256 and limit == top, (flags, kind, limit, top)
        for i in range(pages):
            found = hashlib.sha256(self.data[i << page:min((i + 1) << page, limit)]).digest()
            assert found == self.data[at + hashes + i * size:at + hashes + (i + 1) * size], 'page %d is changed' % i
