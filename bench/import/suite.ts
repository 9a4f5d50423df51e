import { defineSuite, type Subject, type Suite } from '../harness/suite.ts';
import { findPeer } from '../peers/load.ts';
import { importsIn } from './cases.ts';

const name = 'import';
const firstCall = 'import and a first call';
const peers = ['cockatiel', 'opossum', 'effect'];

/** What it takes to import the package. */
export async function loadImportSuite(): Promise<Suite> {
  const found = peers.map((peer) => ({ peer, url: findPeer(peer) }));
  const entry = new URL('../../../dist/index.js', import.meta.url).href;
  return defineSuite({
    name: 'import',
    about:
      'What `import` of a whole package takes in a process that has just started, without what Node takes to start. xstate is one of the things that unwedge imports. What unwedge loads later is paid by its first call: the import, a gateway that is made and started, and one call.',
    baseline: 'xstate',
    subjects: [
      {
        name: 'unwedge',
        about: 'dist/index.js as built',
        cases: { [name]: importsIn(entry), [firstCall]: importsIn(entry, 'call') },
      },
      subject('xstate', 'alone', import.meta.resolve('xstate')),
      ...found.flatMap(({ peer, url }) => (url === undefined ? [] : [subject(peer, 'alone', url)])),
    ],
    missing: found.flatMap(({ peer, url }) => (url === undefined ? [peer] : [])),
    targets: [
      {
        says: 'CPU time to import unwedge, against xstate',
        of: { subject: 'unwedge', case: name, metric: 'cpu' },
        over: { subject: 'xstate', case: name, metric: 'cpu' },
        atMost: 2,
      },
    ],
  });
}

function subject(subjectName: string, about: string, url: string): Subject {
  return { name: subjectName, about, cases: { [name]: importsIn(url) } };
}
