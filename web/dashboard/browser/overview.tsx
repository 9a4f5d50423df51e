import { formatSeconds } from '../../../src/policy/text/face.ts';
import { Box, Empty, Head } from './box.tsx';
import { Health } from './health.tsx';
import { head, now, tables } from './live.ts';
import { WaitList, waitsShown } from './waitList.tsx';
import { counted, headline, type WaitCounts } from './words.ts';

/** Does it need me? What a person has to do, what ends by itself, how well it works. */
export function Overview() {
  const isFrozen = tables.runtimes.all.value.some((each) => each.isFrozen === true);
  return (
    <>
      <Head look={health()} title={headline(countsOf(true), countsOf(false))}>
        <Below />
      </Head>
      <Box title="Needs a person" note="no rule can mend these">
        <WaitList needsPerson={true} none="Nothing." />
      </Box>
      <Box title="Ends by itself" note="each with the rule that ends it">
        <WaitList
          needsPerson={false}
          none={
            isFrozen
              ? 'Not known of a gateway that is frozen.'
              : 'No call is tried again, and none has been silent for 10 s.'
          }
        />
      </Box>
      <Health />
      {tables.integrations.all.value.length + tables.runtimes.all.value.length === 0 && (
        <Empty title="Nothing runs on this database yet">
          A gateway, a proxy or <code>unwedge run</code> that uses <code>{head.value?.database}</code> shows up here by
          itself.
        </Empty>
      )}
    </>
  );
}

/** As bad as the worst of what waits. */
function health(): '' | 'warn' | 'bad' {
  const waits = tables.waits.all.value;
  if (waits.some(({ needsPerson }) => needsPerson)) return 'bad';
  return waits.some(({ sign }) => sign === 'open') ? 'warn' : '';
}

/** Counts the same waits as the list has. */
function countsOf(needsPerson: boolean): WaitCounts {
  const { waiting, over } = waitsShown(needsPerson);
  return { waiting: waiting.length, over: over.length };
}

/** Apart, for it changes each second. */
function Below() {
  const ends = tables.waits.all.value.filter(({ needsPerson }) => !needsPerson);
  const times = ends.flatMap(({ endsAt }) => endsAt ?? []);
  const left = Math.min(...times) - now.value;
  const first = times.length === 0 ? '' : left > 0 ? `, the first in ${formatSeconds(left)}` : ', the first now';
  const sessions = tables.sessions.all.value.filter(({ state }) => state !== undefined);
  const waiting = new Set(tables.waits.all.value.filter(({ of }) => of === 'session').map(({ name }) => name));
  const well = sessions.filter(({ key }) => !waiting.has(key)).length;
  return (
    <>
      {ends.length > 0 &&
        `${counted(ends.length, 'wait ends', 'waits end')} by ${ends.length === 1 ? 'itself' : 'themselves'}${first}. `}
      {sessions.length > 0 && `${well} of ${counted(sessions.length, 'session')} ${well === 1 ? 'is' : 'are'} well.`}
    </>
  );
}
