# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over the WebDriver protocol."""
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
PATIENCE = 30  # seconds until something that should come has not


class Browser:
    """One window. Everything that the pages print on their console is in errors()."""

    def __init__(self, width=1440, height=900, dark=False):
        self.profile = tempfile.mkdtemp(prefix='tfprof-web-')
        self.driver = subprocess.Popen([shutil.which('chromedriver') or '/usr/bin/chromedriver', '--port=0'], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, LC_ALL='C'))
        for line in self.driver.stdout:
            found = re.search(r'successfully on port (\d+)', line)
            if found:
                break
        self.base = 'http://127.0.0.1:' + found.group(1)
        options = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars', '--force-color-profile=srgb',
                   '--user-data-dir=' + self.profile, '--window-size=%d,%d' % (width, height)]
        if dark:
            options.append('--force-dark-mode')
        self.session = '/session/' + self.ask('POST', '/session', {'capabilities': {'alwaysMatch': {
            'goog:chromeOptions': {'args': options, 'binary': shutil.which('chromium') or shutil.which('google-chrome') or 'chromium'},
            'goog:loggingPrefs': {'browser': 'ALL'}}}})['sessionId']
        self.said = []
        self.size(width, height)

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={'Content-Type': 'application/json'})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as e:
            raise AssertionError(json.load(e)['value']['message'].split('\n')[0]) from None

    def do(self, method, path, **body):
        return self.ask(method, self.session + path, body if method == 'POST' else None)

    def devtools(self, command, **params):
        return self.do('POST', '/goog/cdp/execute', cmd=command, params=params)

    def size(self, width, height, mobile=False):
        self.devtools('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def scheme(self, dark):
        self.devtools('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    def js(self, script, *args):
        """The value of a function's body."""
        return self.do('POST', '/execute/sync', script=script, args=list(args))

    def until(self, script, *args):
        """Waits until the function's body returns something true, and returns it."""
        end = time.monotonic() + PATIENCE
        while True:
            value = self.js(script, *args)
            if value:
                return value
            assert time.monotonic() < end, 'never true: ' + script
            time.sleep(0.05)

    def open(self, url):
        self.do('POST', '/url', url='about:blank')
        self.do('POST', '/url', url=url)
        self.until('return document.documentElement.dataset.ready === "true" || document.querySelector("[role=alert]") !== null')

    def find(self, selector):
        return self.do('POST', '/element', using='css selector', value=selector)[ELEMENT]

    def click(self, selector):
        self.do('POST', '/element/%s/click' % self.find(selector))

    def type(self, selector, text):
        element = self.find(selector)
        self.do('POST', '/element/%s/clear' % element)
        self.do('POST', '/element/%s/value' % element, text=text)

    def key(self, *keys):
        self.do('POST', '/actions', actions=[{'type': 'key', 'id': 'keyboard', 'actions': [
            {'type': kind, 'value': k} for k in keys for kind in ('keyDown', 'keyUp')]}])

    def pointer(self, selector, x, y, click=True):
        """Moves the mouse to a place in an element, from its upper left corner, and clicks."""
        at = self.js('const r = document.querySelector(arguments[0]).getBoundingClientRect(); return [r.left, r.top]', selector)
        steps = [{'type': 'pointerMove', 'duration': 0, 'x': int(at[0] + x), 'y': int(at[1] + y)}]
        if click:
            steps += [{'type': 'pointerDown', 'button': 0}, {'type': 'pointerUp', 'button': 0}]
        self.do('POST', '/actions', actions=[{'type': 'pointer', 'id': 'mouse', 'parameters': {'pointerType': 'mouse'}, 'actions': steps}])

    def text(self, selector):
        return self.js('return document.querySelector(arguments[0]).innerText', selector)

    def settle(self):
        """Two frames: what was asked for is drawn."""
        self.do('POST', '/execute/async', script='const d = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => d(1)))', args=[])

    def page(self, name):
        """Goes to a page by its tab."""
        self.click('.tabs a[data-page="%s"]' % name)
        self.until('const m = document.querySelector("main"); return m.dataset.page === arguments[0] && m.getAttribute("aria-busy") === "false"', name)
        self.settle()

    def shot(self, path):
        self.settle()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(base64.b64decode(self.do('GET', '/screenshot')))

    def errors(self):
        """What the console has had since the last call, other than information."""
        return [x['message'] for x in self.do('POST', '/se/log', type='browser') if x['level'] in ('SEVERE', 'WARNING')]

    def close(self):
        try:
            self.do('DELETE', '')
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.profile, ignore_errors=True)
