import { programFlaw } from '../../src/policy/text/face.ts';
import { agentOf } from '../../src/protocol/face.ts';
import { UsageError } from '../errors.ts';

/**
 * Reads the command line of an agent; one that is known gets the arguments by which it speaks the protocol, where it has none.
 * @throws {@link UsageError} that names what is wrong.
 */
export function agentWords([command, ...words]: readonly string[]): readonly [command: string, ...words: string[]] {
  if (command === undefined)
    throw new UsageError('No command given; write it after --, as in `unwedge acp -- goose acp`');
  if (command === '') throw new UsageError('Expected a command after --, got ""');
  const flaw = programFlaw(command, 'the command after --');
  if (flaw !== undefined) throw new UsageError(flaw);
  if (words.length > 0) return [command, ...words];
  const { args, package: name } = agentOf(command)?.acp ?? {};
  if (name !== undefined)
    throw new UsageError(`${command} speaks the protocol by a package: \`unwedge acp -- npx ${name}\``);
  return [command, ...(args ?? [])];
}
