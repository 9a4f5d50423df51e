import { healthy, ok, times } from './build.ts';
import type { Shape } from './shape.ts';
import { hash, word } from './volatile.ts';

/** Actions that are made again and again on purpose, with equal answers. */
export const healthyKeys: readonly Shape[] = [
  healthy(
    'a key that is pressed eighty times',
    times(80, () =>
      ok(
        'browser_press_key',
        { key: 'ArrowDown' },
        "### Ran Playwright code\n```js\nawait page.keyboard.press('ArrowDown');\n```",
      ),
    ),
  ),
  healthy(
    'a key and a picture that changes',
    times(50, (index) => [
      ok('press_key', { key: 'PageDown' }, 'ok'),
      ok('screenshot', {}, `image/png ${20_000 + (hash(index) % 9000)} bytes: line ${index * 40}`),
    ]),
    { tools: { screenshot: { effect: 'readOnly' } } },
  ),
  healthy(
    'a page that is scrolled and read',
    times(45, (index) => [
      ok('browser_scroll', { dy: 600 }, 'Scrolled'),
      ok('browser_snapshot', {}, `- listitem [ref=e${index * 3}]: Product ${index * 3}`),
    ]),
    { tools: { browser_snapshot: { effect: 'readOnly' } } },
  ),
  healthy(
    'a button that is clicked sixty times',
    times(60, () =>
      ok('browser_click', { element: 'Next', ref: 'e12' }, "await page.getByRole('button', { name: 'Next' }).click();"),
    ),
  ),
  healthy(
    'moves of a game with a pattern of three',
    times(40, () => [
      ok('move', { direction: 'left' }, 'OK'),
      ok('move', { direction: 'left' }, 'OK'),
      ok('move', { direction: 'right' }, 'OK'),
    ]),
  ),
  healthy(
    'a focus that goes round a form of twelve fields',
    times(55, (index) => [ok('press_key', { key: 'Tab' }, ''), ok('focused', {}, `textbox "${word(index % 12)}"`)]),
    { tools: { focused: { effect: 'readOnly' } } },
  ),
  healthy(
    'xdotool without an answer',
    times(70, () => ok('Bash', { command: 'xdotool key Down' }, '')),
  ),
  healthy(
    'eight audio files by one call',
    times(8, () => ok('generate_audio', { prompt: 'rain on a roof', seconds: 8 }, 'Audio generated.')),
    { source: 'gemini-cli#6950' },
  ),
  healthy(
    'one picture, generated forty times',
    times(40, () =>
      ok('generate_image', { prompt: 'a red fox, ink' }, 'Image saved to the gallery.', { tookMs: 9000 }),
    ),
    { source: 'gemini-cli#8232' },
  ),
  healthy(
    'one request, a hundred times, as a load test',
    times(100, () => ok('http_post', { url: 'http://localhost:3000/orders', body: { sku: 'a' } }, 'HTTP 201')),
  ),
  healthy(
    'the same row, inserted forty times',
    times(40, () => ok('execute_sql', { sql: "INSERT INTO seed (kind) VALUES ('x')" }, 'INSERT 0 1')),
    { tools: { execute_sql: { effect: 'mutating' } } },
  ),
  healthy(
    'a die of two sides that is thrown',
    times(60, (index) => ok('roll', { sides: 2 }, `${(hash(index) % 2) + 1}`)),
    {
      tools: { roll: { effect: 'readOnly' } },
    },
  ),
  healthy(
    'ten commits without a change, to wake the pipeline',
    times(10, () => [
      ok('Bash', { command: 'git commit --allow-empty -m wake' }, '[main] wake'),
      ok('Bash', { command: 'git push' }, 'To github.com:acme/web.git\n   main -> main'),
    ]),
  ),
];
