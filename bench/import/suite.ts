import { defineSuite, type Subject, type Suite } from '../harness/suite.ts';
import { findPeer } from '../peers/load.ts';
import { importsIn } from './cases.ts';

const name = 'import';
const firstCall = 'import and a first call';
const peers = ['cockatiel', 'opossum', 'effect'];

/** What it takes to import the package. */
export async function loadImportSuite(): Promise<Suite> {
  const found = peers.map((peer) => ({ peer, url: findPeer(peer) }));
  const dist = new URL('../../../dist/', import.meta.url);
  return defineSuite({
    name: 'import',
    about:
      'What `import` of a whole package takes in a process that has just started, without what Node takes to start. xstate is one of the things that unwedge imports. What unwedge loads later is paid by its first call: a gateway that is made and started, and one call, against the same where all is loaded at once, as bundlers are given it.',
    baseline: 'xstate',
    subjects: [
      unwedge('unwedge', 'dist/lazy.js, as Node is given it', new URL('lazy.js', dist).href),
      unwedge('unwedge at once', 'dist/index.js, as bundlers are given it', new URL('index.js', dist).href),
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
      {
        says: 'time to the first call, against everything loaded at once',
        of: { subject: 'unwedge', case: firstCall, metric: 'cpu' },
        over: { subject: 'unwedge at once', case: firstCall, metric: 'cpu' },
        atMost: 1.1,
      },
    ],
  });
}

function subject(subjectName: string, about: string, url: string): Subject {
  return { name: subjectName, about, cases: { [name]: importsIn(url) } };
}

function unwedge(subjectName: string, about: string, url: string): Subject {
  return { name: subjectName, about, cases: { [name]: importsIn(url), [firstCall]: importsIn(url, 'call') } };
}
