import { effect } from '@preact/signals';
import { render } from 'preact';
import { logIn } from './api.ts';
import { listenToKeys } from './keys.ts';
import { listen } from './live.ts';
import { span } from './route.ts';
import { Shell } from './shell.tsx';
import { restoreTheme } from './theme.ts';

restoreTheme();
listenToKeys();
// A request before the cookie is there would be refused.
void logIn().then(() => {
  effect(() => listen(span.value));
  const app = document.getElementById('app');
  if (app !== null) render(<Shell />, app);
});
