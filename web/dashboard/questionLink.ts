import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../../src/policy/failures/face.ts';
import { type PersonAnswer, type Question, questionText } from '../../src/policy/records/face.ts';
import { noTrace } from '../server/httpServer.ts';
import type { DatabaseSource } from './databaseSource.ts';
import { readText } from './requests.ts';

/** Tells whether a path is a link to a question. */
export const isQuestionLink = (pathname: string): boolean => pathname.startsWith('/inbox/');

/**
 * Answers a signed link, whose signature is the right to it: GET shows the question, and POST alone answers it, as programs of chats fetch links by
 * themselves. 404 for a link that is not good, whether there is such a question or not, 410 for one that has ended. Never rejects.
 */
export async function answerLink(
  request: IncomingMessage,
  response: ServerResponse,
  source: Pick<DatabaseSource, 'questionOfLink' | 'answer'>,
  now: number,
): Promise<void> {
  const { method = 'GET', url = '/' } = request;
  const [, id = '', signed = ''] = /^\/inbox\/([0-9a-f]{20})\/([\w-]{43})$/.exec(url.split('?', 1)[0] ?? '') ?? [];
  const send = (status: number, said: string, question?: Question): void =>
    sendPage(response, status, `${said === '' ? '' : `<p>${escaped(said)}</p>`}${question ? formOf(question) : ''}`);
  try {
    const question = await source.questionOfLink(id, signed);
    if (question === undefined) return send(404, 'This link is not good.');
    const isOver = question.state !== 'open' || question.deadlineAt <= now;
    if (isOver) return send(410, overText(question));
    if (method === 'GET' || method === 'HEAD') return send(200, '', question);
    if (method !== 'POST') return send(405, 'A link is opened, or its form is sent.');
    const answer = answerIn(await readText(request, 'application/x-www-form-urlencoded'), question);
    if (typeof answer === 'string') return send(400, answer, question);
    const { ok, text } = await source.answer(id, answer);
    if (ok) return send(200, `Thank you. ${text}`);
    const after = await source.questionOfLink(id, signed);
    if (after?.state === 'open') return send(400, text, after);
    send(410, after === undefined ? text : overText(after));
  } catch (error) {
    const isMisuse = error instanceof TypeError || error instanceof RangeError;
    send(isMisuse ? 400 : 503, isMisuse ? messageOf(error) : 'The question cannot be read now: try again later.');
  }
}

/** A deadline that has passed ends it, whoever has to write that down yet. */
const overText = (question: Question): string =>
  questionText(question.state === 'open' ? { ...question, state: 'expired' } : question);

/** The answer of a form, or why it is none. */
function answerIn(body: string, { form }: Question): PersonAnswer | string {
  const fields = new URLSearchParams(body);
  const given = (name: string): string | undefined => fields.get(name)?.trim().slice(0, 300) || undefined;
  const decision = fields.get('decision');
  if (decision !== 'accept' && decision !== 'decline') return 'Press one of the two buttons.';
  const answer = { decision, by: given('by'), reason: given('reason'), way: 'link' } as const;
  const value = fields.get('value') ?? '';
  if (decision === 'decline' || form.is === 'decision') return answer;
  if (value.trim() === '') return 'An answer is missing.';
  if (form.is !== 'fields') return { ...answer, value };
  try {
    return { ...answer, value: JSON.parse(value) as unknown };
  } catch {
    return 'The fields have to be JSON.';
  }
}

function formOf({ asker, session = asker, what, detail, form, deadlineAt }: Question): string {
  const of = session === asker ? '' : ` for ${session}`;
  const shown = (value: unknown): string => `<pre>${escaped(JSON.stringify(value, undefined, 2))}</pre>`;
  const until = new Date(deadlineAt).toISOString().slice(0, 16).replace('T', ' ');
  const options = form.is === 'choice' ? form.options : [];
  const choices = options.map(({ id, name = id }) => `<option value="${escaped(id)}">${escaped(name)}</option>`);
  const inputs = {
    decision: '',
    text: '<label>Answer<textarea name="value"></textarea></label>',
    choice: `<label>Answer<select name="value">${choices.join('')}</select></label>`,
    fields: `${form.is === 'fields' ? shown(form.schema) : ''}<label>Fields, as JSON<textarea name="value">{}</textarea></label>`,
  };
  return `<h1>${escaped(asker + of)} asks</h1><p class="what">${escaped(what)}</p>${detail === undefined ? '' : shown(detail)}
<form method="post">${inputs[form.is]}
<label>Your name<input name="by" maxlength="300"></label><label>Reason<input name="reason" maxlength="300"></label>
<p><button name="decision" value="accept">${form.is === 'decision' ? 'Allow' : 'Answer'}</button>
<button name="decision" value="decline">Decline</button></p></form><p>Until ${until} UTC; then it is declined.</p>`;
}

const style =
  ':root{color-scheme:light dark;font:16px/1.5 system-ui}body{max-width:36rem;margin:2rem auto;padding:0 1rem}h1{font-size:1.2rem}' +
  'pre{overflow:auto;white-space:pre-wrap}.what{white-space:pre-wrap;overflow-wrap:anywhere}label,input,textarea,select{display:block;width:100%;' +
  'box-sizing:border-box;font:inherit}label{margin:.6rem 0}button{font:inherit;padding:.4rem 1.2rem;margin-right:.6rem}';

const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

function sendPage(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    ...noTrace,
    // Its own form names where it comes from; without, a browser would say `null`.
    'Referrer-Policy': 'same-origin',
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    ...(status >= 400 && { Connection: 'close' }),
  });
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>A question</title><style>${style}</style>${body}</html>\n`,
  );
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (each) => escapes[each] ?? each);
