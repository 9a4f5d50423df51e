import type { Guard } from './harness/guard.ts';

/** What a busy machine, or another one, does to one side only is less than this; code that V8 no longer compiles for good is more. */
const ofTime = { margin: 3 };
/** Much the same each time. */
const ofBytes = { margin: 1.3, once: true };

/**
 * The ratios that `npm run bench -- --check` looks at: those that a change to the call path would be seen in. None of the suite `cluster`: it starts a
 * PostgreSQL and takes minutes. `npm run bench -- cluster` judges its targets.
 */
export const guards: readonly Guard[] = [
  ...['timer', 'opossum', 'cockatiel'].map((other) => against('calls', 'in turn', 'call cpu', other)),
  against('calls', 'in turn, signal read', 'call cpu', 'timer'),
  ...['timer', 'opossum'].map((other) =>
    against('calls', 'alone, a turn of the event loop after each', 'call cpu', other),
  ),
  ...['timer', 'opossum'].map((other) => against('calls', 'in turn, memory', 'allocated', other, ofBytes)),
  ...['error', 'opossum', 'cockatiel'].map((other) => against('open', 'refused', 'call cpu', other)),
  ...['start cpu', 'settle cpu'].flatMap((metric) =>
    ['timer', 'opossum'].map((other) => against('concurrent', '10k in flight', metric, other)),
  ),
  ...['timer', 'opossum'].map((other) => against('concurrent', '10k in flight, memory', 'heap', other, ofBytes)),
  ...['start cpu', 'abort of all cpu'].map((metric) =>
    within('parent-signal', metric, '20k under one signal', '2k under one signal'),
  ),
  against('parent-signal', '20k under one signal', 'abort of all cpu', 'timer'),
  ...['by hand', 'cockatiel'].map((other) => against('failures', 'fails once, 10 at a time', 'call cpu', other)),
  against('failures', 'fails once, in turn', 'call cpu', 'by hand'),
  within('failures', 'call cpu', 'fails for good, window of 50,000', 'fails for good, window of 50'),
  ...['--help', 'version', 'hook -- true'].map((of) => against('cli', of, 'cpu', 'node', { margin: 1.5 })),
  against('import', 'import', 'cpu', 'xstate'),
  against('import', 'import', 'heap', 'xstate', { margin: 1.1 }),
  ...['start cpu', 'stop cpu'].map((metric) => against('supervisor', '10k idle', metric, 'xstate')),
  counted('in turn', 'call cpu', ofTime),
  counted('in turn, memory', 'allocated', ofBytes),
  // Both sides take turns within one case.
  {
    suite: 'otel',
    of: { subject: 'with the SDK', case: 'told', metric: 'call cpu' },
    over: { subject: 'with the SDK', case: 'told', metric: 'by hand cpu' },
    ...ofTime,
  },
];

function against(
  suite: string,
  of: string,
  metric: string,
  other: string,
  kind: Pick<Guard, 'margin' | 'once'> = ofTime,
): Guard {
  const figure = (subject: string) => ({ subject, case: of, metric });
  return { suite, of: figure('unwedge'), over: figure(other), ...kind };
}

function counted(of: string, metric: string, kind: Pick<Guard, 'margin' | 'once'>): Guard {
  const figure = (subject: string) => ({ subject, case: of, metric });
  return { suite: 'statistics', of: figure('counted'), over: figure('uncounted'), ...kind };
}

function within(suite: string, metric: string, of: string, over: string): Guard {
  const figure = (name: string) => ({ subject: 'unwedge', case: name, metric });
  return { suite, of: figure(of), over: figure(over), ...ofTime };
}
