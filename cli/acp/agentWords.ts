import { programFlaw } from '../../src/policy/text/face.ts';
import { UsageError } from '../errors.ts';

/**
 * Reads the command line of an agent.
 * @throws {@link UsageError} that names what is wrong.
 */
export function agentWords([command, ...words]: readonly string[]): readonly [command: string, ...words: string[]] {
  if (command === undefined)
    throw new UsageError('No command given; write it after --, as in `unwedge acp -- goose acp`');
  if (command === '') throw new UsageError('Expected a command after --, got ""');
  const flaw = programFlaw(command, 'the command after --');
  if (flaw !== undefined) throw new UsageError(flaw);
  return [command, ...words];
}
