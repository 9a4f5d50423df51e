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
  against('ledger', '100 in flight', 'call cpu', 'better-sqlite3'),
  // Both sides take turns within one case.
  {
    suite: 'otel',
    of: { subject: 'with the SDK', case: 'told', metric: 'call cpu' },
    over: { subject: 'with the SDK', case: 'told', metric: 'by hand cpu' },
    ...ofTime,
  },
  processes('mcp', 'against the pipe', 'the pipe'),
  processes('bridges', 'by HTTP, a server on stdio, 32 in flight', 'bare'),
  processes('bridges', 'on stdio, a server by HTTP, 32 in flight', 'bare'),
  processes('api', 'objects in answer to 2 kB, 32 at a time', 'bare'),
  processes('acp', '20,000 updates at once', 'the pipe'),
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

/** CPU time of our process and of the server behind it, against that of the other with which it takes turns. */
function processes(suite: string, of: string, other: string): Guard {
  const figure = (metric: string) => ({ subject: 'unwedge', case: of, metric });
  return { suite, of: figure('cpu'), over: figure(`cpu of ${other}`), margin: 1.5, once: true };
}

function counted(of: string, metric: string, kind: Pick<Guard, 'margin' | 'once'>): Guard {
  const figure = (subject: string) => ({ subject, case: of, metric });
  return { suite: 'statistics', of: figure('counted'), over: figure('uncounted'), ...kind };
}

function within(suite: string, metric: string, of: string, over: string): Guard {
  const figure = (name: string) => ({ subject: 'unwedge', case: name, metric });
  return { suite, of: figure(of), over: figure(over), ...ofTime };
}
