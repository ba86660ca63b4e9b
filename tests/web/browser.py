# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over the WebDriver protocol, and a headless Firefox, over its own Marionette."""
import base64
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
PATIENCE = 300  # seconds after which a wait fails, also on a machine under load
TIMEOUTS = {'timeouts': {'script': 1000 * PATIENCE, 'pageLoad': 1000 * PATIENCE}}


class Browser:
    """A browser window. errors() returns the text that pages print on their console."""

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
            **TIMEOUTS, 'goog:chromeOptions': {'args': options, 'binary': shutil.which('chromium') or shutil.which('google-chrome') or 'chromium'},
            'goog:loggingPrefs': {'browser': 'ALL'}}}})['sessionId']
        self.said = []
        self.size(width, height)

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={'Content-Type': 'application/json'})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
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
        """Returns the value of a function's body."""
        return self.do('POST', '/execute/sync', script=script, args=list(args))

    def until(self, script, *args):
        """Waits until the function's body returns a true value, and returns the value."""
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

    def pointer(self, selector, x, y, click=True, to=None):
        """Moves the mouse to a place in an element, from its upper left corner, and clicks, or drags it horizontally to another place."""
        at = self.js('const r = document.querySelector(arguments[0]).getBoundingClientRect(); return [r.left, r.top]', selector)
        steps = [{'type': 'pointerMove', 'duration': 0, 'x': int(at[0] + x), 'y': int(at[1] + y)}]
        if click:
            drag = [] if to is None else [{'type': 'pointerMove', 'duration': 0, 'x': int(at[0] + to), 'y': int(at[1] + y)}]
            steps += [{'type': 'pointerDown', 'button': 0}] + drag + [{'type': 'pointerUp', 'button': 0}]
        self.do('POST', '/actions', actions=[{'type': 'pointer', 'id': 'mouse', 'parameters': {'pointerType': 'mouse'}, 'actions': steps}])

    def text(self, selector):
        return self.js('return document.querySelector(arguments[0]).innerText', selector)

    def settle(self):
        """Waits for two frames, after which changes are drawn."""
        self.do('POST', '/execute/async', script='const d = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => d(1)))', args=[])

    def page(self, name):
        """Opens a page by its tab."""
        self.click('.tabs a[data-page="%s"]' % name)
        self.until('const m = document.querySelector("main"); return m.dataset.page === arguments[0] && m.getAttribute("aria-busy") === "false"', name)
        self.settle()

    def shot(self, path):
        self.settle()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(base64.b64decode(self.do('GET', '/screenshot')))

    def errors(self):
        """Returns the console messages since the last call, except information."""
        return [x['message'] for x in self.do('POST', '/se/log', type='browser') if x['level'] in ('SEVERE', 'WARNING')]

    def close(self):
        try:
            self.do('DELETE', '')
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.profile, ignore_errors=True)


class Firefox(Browser):
    """A window of Firefox. Marionette takes WebDriver's commands as [0, id, name, parameters] over a socket: no driver is
    needed."""
    COMMANDS = [(r'/url', 'Navigate'), (r'/element', 'FindElement'), (r'/element/(?P<id>[^/]+)/click', 'ElementClick'), (r'/element/(?P<id>[^/]+)/clear', 'ElementClear'),
                (r'/element/(?P<id>[^/]+)/value', 'ElementSendKeys'), (r'/actions', 'PerformActions'), (r'/execute/sync', 'ExecuteScript'),
                (r'/execute/async', 'ExecuteAsyncScript'), (r'/screenshot', 'TakeScreenshot'), (r'/window/rect', 'SetWindowRect')]

    def __init__(self, width=1440, height=900):
        self.profile = tempfile.mkdtemp(prefix='tfprof-web-')
        with open(os.path.join(self.profile, 'user.js'), 'w') as f:
            f.write('user_pref("marionette.port", 0);\nuser_pref("browser.shell.checkDefaultBrowser", false);\nuser_pref("app.update.enabled", false);\n'
                    'user_pref("datareporting.policy.dataSubmissionEnabled", false);\nuser_pref("network.captive-portal-service.enabled", false);\nuser_pref("devtools.console.stdout.content", true);\n'
                    'user_pref("devtools.console.stdout.chrome", false);\nuser_pref("messaging-system.rsexperimentloader.enabled", false);\n'
                    # Scripts take longer than its limit of 10 s on a busy machine; PATIENCE is the limit.
                    'user_pref("dom.max_script_run_time", 0);\nuser_pref("dom.max_script_run_time_without_important_user_input", 0);\n')
        output = os.open(os.path.join(self.profile, 'console'), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.console = open(os.path.join(self.profile, 'console'))
        self.driver = subprocess.Popen([firefox(), '--headless', '--marionette', '--remote-allow-system-access', '--no-remote', '--profile', self.profile],
                                       stdout=output, stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=self.profile, MOZ_CRASHREPORTER_DISABLE='1'))
        os.close(output)
        self.socket = socket.create_connection(('127.0.0.1', self.port()), timeout=PATIENCE)
        self.stream = self.socket.makefile('rb')
        self.last = 0
        self.message()
        self.call('WebDriver:NewSession', {'capabilities': {'alwaysMatch': TIMEOUTS}})
        self.size(width, height)

    def port(self):
        """Returns the port of Marionette, which Firefox writes into its profile."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.driver.poll() is None:
            try:
                with open(os.path.join(self.profile, 'MarionetteActivePort')) as f:
                    return int(f.read())
            except (OSError, ValueError):
                time.sleep(0.1)
        raise AssertionError('Firefox does not start')

    def message(self):
        digits = b''
        while not digits.endswith(b':'):
            digits += self.stream.read(1)
        return json.loads(self.stream.read(int(digits[:-1])))

    def call(self, name, params):
        self.last += 1
        data = json.dumps([0, self.last, name, params]).encode()
        self.socket.sendall(b'%d:%s' % (len(data), data))
        _, _, error, value = self.message()
        assert not error, '%s: %s' % (name, error['message'] if error else '')
        return value['value'] if isinstance(value, dict) and list(value) == ['value'] else value

    def do(self, method, path, **body):
        for pattern, name in self.COMMANDS:
            found = re.fullmatch(pattern, path)
            if found:
                return self.call('WebDriver:' + name, {**body, **found.groupdict()})
        raise AssertionError('no command for ' + path)

    def size(self, width, height, mobile=False):
        """Sizes the window so that the page has this size."""
        more = self.js('return [outerWidth - innerWidth, outerHeight - innerHeight]')
        self.do('POST', '/window/rect', width=width + more[0], height=height + more[1])

    def shot(self, path):
        self.settle()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(base64.b64decode(self.do('GET', '/screenshot', full=False)))

    def errors(self):
        """Returns errors of scripts and policies, and output of console.error and console.warn."""
        self.call('Marionette:SetContext', {'value': 'chrome'})
        try:
            out = self.js('const all = Services.console.getMessageArray(); Services.console.reset(); '
                          'return all.filter(m => m instanceof Ci.nsIScriptError && /^(file|http):/.test(m.sourceName)).map(m => m.errorMessage)')
        finally:
            self.call('Marionette:SetContext', {'value': 'content'})
        return out + re.findall(r'^console\.(?:error|warn): (?!RSLoader)(.*)', self.console.read(), re.M)

    def close(self):
        self.socket.close()
        self.console.close()
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def firefox():
    """Returns the path of Firefox, or None."""
    return shutil.which('firefox-esr') or shutil.which('firefox')
