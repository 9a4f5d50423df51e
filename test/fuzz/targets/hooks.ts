import { judgeHook, failureExitCode } from '../../../cli/hook/hookOutcome.ts';
import { readHookInput } from '../../../cli/hook/hostInput.ts';
import { commandHookInput, judgeCommandHook, readBackground } from '../../../src/protocol/commandHook.ts';
import { canBlock, hookHostMs, hookLimitMs, mayBlockOnFailure } from '../../../src/protocol/hookEvents.ts';
import { must, mustBePlain, same, type Target } from '../target.ts';

const events = ['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'Stop', 'SessionStart', 'PermissionRequest', ''];

/** What a host writes to a hook. */
export function hookInput(): Target {
  return {
    seeds: events.map((event) =>
      JSON.stringify({
        session_id: 's',
        transcript_path: '/t',
        cwd: '/',
        hook_event_name: event,
        tool_name: 'Bash',
        tool_input: { command: 'ls' },
      }),
    ),
    run(input) {
      const said = readHookInput(input.toString('utf8'));
      if (said === undefined) return;
      must(
        typeof said.event === 'string' && said.event !== '' && typeof said.action === 'string',
        'an event has no name',
      );
      for (const ms of [hookHostMs(said.event), hookLimitMs(said.event)])
        must(ms === undefined || ms > 0, 'a limit is none');
      canBlock(said.event);
      mayBlockOnFailure(said.event);
      const written = commandHookInput(
        { event: said.event, action: said.action, session: said.session, payload: said.fields },
        '/',
      );
      const again = readHookInput(written);
      same(
        JSON.stringify([again?.event, again?.action, again?.session]),
        JSON.stringify([said.event, said.action, said.session]),
        'an event changes when it is written',
      );
    },
  };
}

/** What a hook prints, by each of its ends: one answer or a failure, and where it declines, what it was asked about does not happen. */
export function hookOutput(): Target {
  return {
    seeds: [
      JSON.stringify({ continue: false, stopReason: 'x' }),
      JSON.stringify({ decision: 'block', reason: 'no', systemMessage: 'm', suppressOutput: true }),
      JSON.stringify({
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: 'r',
          updatedInput: { a: 1 },
        },
      }),
      JSON.stringify({
        hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow', updatedInput: {} } },
      }),
      '{"async":true,"asyncTimeout":1000}\nmore',
      'plain words',
    ],
    run(input, random) {
      const stdout = input.toString('utf8');
      const event = events[Math.floor(random() * events.length)] ?? '';
      readBackground(stdout);
      for (const isCut of [false, true]) {
        const verdict = judgeCommandHook(event, { exitCode: 0, stdout, stderr: '', isCut });
        if (!verdict.ok) continue;
        const { answer } = verdict;
        must(answer.decision !== 'block' || canBlock(event), 'an event is blocked that cannot be');
        must(answer.permission !== 'deny' || !canBlock(event) || answer.decision === 'block', 'a deny does not block');
        JSON.stringify(answer);
      }
      const blocked = judgeCommandHook(event, { exitCode: 2, stdout: '', stderr: stdout });
      must(blocked.ok && (blocked.answer.decision === 'block') === canBlock(event), 'exit code 2 does not block');
      for (const onFailure of ['allow', 'block'] as const) {
        for (const exitCode of [0, 1, 2, 127]) {
          const outcome = judgeHook(
            { end: { how: 'exit', exitCode }, stdout: input, stderr: input } as never,
            onFailure,
          );
          if (outcome.is !== 'failed') continue;
          mustBePlain(outcome.failure.message, 'a failure of a hook');
          must(outcome.failure.message.length < 1000, 'a failure of a hook is long');
        }
        failureExitCode(onFailure, event);
      }
    },
  };
}
