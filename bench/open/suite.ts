import { defineSuite, type Suite } from '../harness/suite.ts';
import { loadPeer } from '../peers/load.ts';
import type { Cockatiel, Opossum } from '../peers/types.ts';
import { openCockatiel, openOpossum, openUnwedge, refused, throwing } from './cases.ts';

const name = 'refused';

/** What a call costs that is refused as the circuit is open. */
export async function loadOpenSuite(): Promise<Suite> {
  const opossum = await loadPeer<Opossum>('opossum');
  const cockatiel = await loadPeer<Cockatiel>('cockatiel');
  const peers = [
    ...(opossum === undefined
      ? []
      : [{ name: 'opossum', about: 'fire() of an open circuit', cases: { [name]: refused(openOpossum(opossum)) } }]),
    ...(cockatiel === undefined
      ? []
      : [
          {
            name: 'cockatiel',
            about: 'execute() of an open breaker, without the retry and the timeout around and in it',
            cases: { [name]: refused(openCockatiel(cockatiel)) },
          },
        ]),
  ];
  return defineSuite({
    name: 'open',
    about:
      'A call that is refused as the circuit is open, until its caller has seen that it was: as a value where there is one, caught where it is thrown. ' +
      'The baseline is an error and nothing else.',
    baseline: 'error',
    subjects: [
      { name: 'unwedge', about: 'call(), the outcome is a value', cases: { [name]: refused(openUnwedge) } },
      { name: 'error', about: 'an async function that throws a new Error', cases: { [name]: refused(throwing) } },
      ...peers,
    ],
    missing: [...(opossum === undefined ? ['opossum'] : []), ...(cockatiel === undefined ? ['cockatiel'] : [])],
    targets: ['opossum', 'cockatiel'].map((peer) => ({
      says: `CPU time of a refused call, against ${peer}`,
      of: { subject: 'unwedge', case: name, metric: 'call cpu' },
      over: { subject: peer, case: name, metric: 'call cpu' },
      atMost: 0.15,
    })),
  });
}
