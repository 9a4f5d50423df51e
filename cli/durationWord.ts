import { parseDuration } from '../src/policy/duration.ts';
import { messageOf } from '../src/policy/thrown.ts';
import { UsageError } from './errors.ts';

/** A number without a unit, as far as it can be a duration. */
const bareNumber = /^\d{1,12}(?:\.\d{1,6})?$/;

/**
 * A duration as a command line has it, in ms: with a unit (`500ms`, `30s`, `5m`, `1.5h`, `7d`), or a number of seconds, as timeout(1) takes it.
 * @throws {@link UsageError} that names the option and the value.
 */
export function durationWord(option: string, text: string): number {
  try {
    return parseDuration(option, bareNumber.test(text) ? `${text}s` : text);
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}
