import { signal } from '@preact/signals';
import type { Wait } from '../snapshot.ts';
import { answerQuestion } from './api.ts';
import { Act, Ask } from './ask.tsx';
import { told } from './dialog.tsx';
import { right } from './live.ts';

interface Answering {
  readonly question: NonNullable<Wait['question']>;
  readonly what: string;
  readonly decision: 'accept' | 'decline';
}

const answering = signal<Answering | undefined>(undefined);

/** The buttons of a question, for who may answer it. */
export function AnswerButtons({ question, text: what }: Pick<Wait, 'text'> & Pick<Answering, 'question'>) {
  if (right.value !== 'all') return null;
  const begin = (decision: Answering['decision']) => () => {
    answering.value = { question, what, decision };
  };
  return (
    <>
      <Act act={begin('accept')}>{question.form.is === 'decision' ? 'Allow…' : 'Answer…'}</Act>
      <Act act={begin('decline')}>Decline…</Act>
    </>
  );
}

/** Takes the answer to a question, and what is said with it. */
export function AnswerDialog() {
  const asked = answering.value;
  if (asked === undefined) return null;
  const { question, what, decision } = asked;
  const { id, form } = question;
  const isAllowed = decision === 'accept';
  const verb = isAllowed ? (form.is === 'decision' ? 'Allow' : 'Answer') : 'Decline';
  const options = form.is === 'choice' ? form.options.map((each) => each.id) : undefined;
  const label = { decision: '', text: 'Answer', choice: 'One of its options', fields: 'Fields, as JSON' }[form.is];
  return (
    <Ask
      key={`${id} ${decision}`}
      {...{ verb, what, note: 'The first answer counts. ', keepText: 'Not now' }}
      after={[
        isAllowed ? ['ok', 'ok', 'Who asked goes on with it at once.'] : ['cross', 'bad', 'Who asked is told no.'],
      ]}
      field={isAllowed && label !== '' ? { label, first: '', options } : undefined}
      act={async (why, value) => {
        told.value = (await answerQuestion(id, { decision, value: valueOf(form.is, value) }, why)).text;
      }}
      close={() => {
        answering.value = undefined;
      }}
    />
  );
}

/** What was typed; that is no JSON is said by who takes fields. */
function valueOf(form: Answering['question']['form']['is'], typed: string): unknown {
  if (form !== 'fields') return typed === '' ? undefined : typed;
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}
