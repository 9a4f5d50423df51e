import { defineSuite, type Subject, type Suite } from '../harness/suite.ts';
import { findPeer } from '../peers/load.ts';
import { importsIn } from './cases.ts';

const name = 'import';
const peers = ['cockatiel', 'opossum', 'effect'];

/** What it takes to import the package. */
export async function loadImportSuite(): Promise<Suite> {
  const found = peers.map((peer) => ({ peer, url: findPeer(peer) }));
  const dist = new URL('../../../dist/', import.meta.url);
  return defineSuite({
    name: 'import',
    about:
      'What `import` of a whole package takes in a process that has just started, without what Node takes to start. xstate is one of the things that unwedge imports.',
    baseline: 'xstate',
    subjects: [
      subject('unwedge', 'dist/index.js as built', new URL('index.js', dist).href),
      subject('xstate', 'alone', import.meta.resolve('xstate')),
      ...found.flatMap(({ peer, url }) => (url === undefined ? [] : [subject(peer, 'alone', url)])),
    ],
    missing: found.flatMap(({ peer, url }) => (url === undefined ? [peer] : [])),
    targets: [
      {
        says: 'time to import unwedge, against xstate',
        of: { subject: 'unwedge', case: name, metric: 'wall' },
        over: { subject: 'xstate', case: name, metric: 'wall' },
        atMost: 2,
      },
    ],
  });
}

function subject(subjectName: string, about: string, url: string): Subject {
  return { name: subjectName, about, cases: { [name]: importsIn(url) } };
}
