import { formatDuration } from '../../src/policy/text/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { openReader } from '../../reader/openReader.ts';
import type { RuntimeRow } from '../../src/store/face.ts';
import { counted } from '../text.ts';
import { type DoctorWorld, type Finding, ok, warning } from './finding.ts';

/** Clocks of machines may differ by less than this in everyday life, in ms. */
const clockStepMs = 60_000;

/** A PostgreSQL database: that it can be reached, was used by a gateway, and is of this version. @param url - with its password. */
export async function checkPostgres(url: string, { now }: DoctorWorld): Promise<readonly Finding[]> {
  try {
    const reader = await openReader(url);
    const [newest] = await reader.events({ limit: 1 });
    const { events } = await reader.status(now);
    const findings: Finding[] = [ok('store', `${reader.path} can be read: ${counted(events, 'event')}`)];
    const aheadMs = (newest?.at ?? now) - now;
    if (aheadMs > clockStepMs) {
      const summary = `the newest event is ${formatDuration(aheadMs)} in the future: the clock of this machine, or of another one, is wrong`;
      findings.push(warning('clock.ahead', summary, 'sudo timedatectl set-ntp true'));
    }
    return findings;
  } catch (error) {
    return [troubleIn(messageOf(error))];
  }
}

/** Runs that are entered there; none where it cannot be read, which is told elsewhere. */
export async function runtimesIn(url: string): Promise<readonly RuntimeRow[]> {
  try {
    return await (await openReader(url)).runtimes();
  } catch {
    return [];
  }
}

/** Only what is a command is a fix; the rest of what to do is in the words. */
function troubleIn(message: string): Finding {
  const isUnused = message.includes('no gateway has used it yet');
  const [summary = message, fix] = message.split('. Fix: ');
  const isCommand = fix?.startsWith('npm ') === true;
  const words = fix === undefined || isCommand ? summary : `${summary}; ${fix}`;
  return {
    id: isUnused ? 'store.absent' : isCommand ? 'store.package' : 'store.unreachable',
    status: isUnused ? 'warning' : 'fail',
    summary: words,
    ...(isCommand && { fix }),
  };
}
