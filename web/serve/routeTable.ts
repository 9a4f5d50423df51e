import {
  type Key,
  type Keys,
  anyObject,
  anything,
  choice,
  duration,
  name,
  section,
  text,
} from '../../src/policy/options/face.ts';

/** A route, as it is routed, checked and documented. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Says what it does, in a sentence. */
  readonly summary: string;
  /** Lets whoever reaches the listener ask. @defaultValue it takes the token */
  readonly isOpen?: true | undefined;
  readonly query?: Keys | undefined;
  readonly body?: Keys | undefined;
  /** Its answers, by status, each in a few words. */
  readonly answers: Readonly<Record<number, string>>;
}

const rule = text({ required: true, help: 'The id of a rule of `why`.' });
const unknownSession = 'nobody knows this session';
const heldElsewhere = 'another process has the session; on PostgreSQL the error names it';
const unreadable = 'the database is out of reach';

/** Everything that `unwedge serve` answers but for its dashboard. */
export const routes = {
  alive: {
    method: 'GET',
    path: '/healthz',
    summary: 'Whether the process answers.',
    isOpen: true,
    answers: { 200: '`{"alive": true}`' },
  },
  ready: {
    method: 'GET',
    path: '/readyz',
    summary:
      'Whether new work should come here: it has started, keeps what it accepts, and every session makes progress.',
    isOpen: true,
    answers: { 200: '`{"ready": true, "reasons": []}`', 503: 'not now; `reasons` says why, a sentence each' },
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'The metrics, for Prometheus.',
    answers: { 200: 'text, or OpenMetrics where it is asked for' },
  },
  openDashboard: {
    method: 'POST',
    path: '/v1/dashboard',
    summary: 'An address of the dashboard, good for one browser.',
    answers: { 200: '`{"url"}`' },
  },
  tools: {
    method: 'GET',
    path: '/v1/tools',
    summary: 'The tools of the MCP servers, as they were listed last.',
    answers: { 200: '`{"servers": [{"server", "state", "tools": [{"name", "description", "inputSchema"}]}]}`' },
  },
  openSession: {
    method: 'POST',
    path: '/v1/sessions',
    summary: 'Makes a session, or finds the one of this id.',
    body: {
      id: text({
        form: (id) => /^[\p{L}\p{N}\p{P}\p{S}]{1,200}$/u.test(id),
        expected: 'at most 200 characters without spaces',
        help: 'Of your choosing, at most 200 characters without spaces. Else one is made up.',
      }),
    },
    answers: { 200: 'it was there', 201: '`{"id", "state", "waiting"}`; the id begins with `serve:`' },
  },
  inbox: {
    method: 'GET',
    path: '/v1/inbox',
    summary: 'Questions that wait for a person, the oldest first, without secrets.',
    answers: {
      200: '`{"questions": [{"id", "asker", "session", "what", "detail", "form", "askedAt", "deadlineAt"}]}`',
    },
  },
  answerQuestion: {
    method: 'POST',
    path: '/v1/inbox/:question',
    summary: 'Answers a question, by its id or the beginning of it. The first answer counts.',
    body: {
      decision: choice(['accept', 'decline'], { required: true, help: '`accept` or `decline`.' }),
      value: { ...anything, help: 'The text, the id of an option or the fields.' },
      reason: text({ help: 'For the record, and the agent.' }),
      by: text({ help: 'Who answers.' }),
    },
    answers: {
      200: '`{"ok", "text"}`',
      400: 'this is no answer to it; the error says what is',
      404: 'no question of this id, or more than one that begins so',
      409: 'it was answered before, or its time is over; the error says which',
    },
  },
  listSessions: {
    method: 'GET',
    path: '/v1/sessions',
    summary: 'The sessions that this process holds.',
    answers: { 200: '`{"sessions": [{"id", "state", "waiting"}]}`' },
  },
  session: {
    method: 'GET',
    path: '/v1/sessions/:session',
    summary: 'One session.',
    answers: {
      200: '`{"id", "state", "waiting"}`, and `"heldElsewhere": true` where another process has it',
      404: unknownSession,
    },
  },
  close: {
    method: 'DELETE',
    path: '/v1/sessions/:session',
    summary: 'Ends a session. What is kept of it stays: named again it goes on with that.',
    query: {
      reason: text({ help: 'For the record, and for those whose messages end by it.' }),
      drain: duration({
        zero: true,
        help: 'How long its message, and those that wait, may take to end. Else they are cut at once.',
      }),
    },
    answers: {
      200: '`{"ok", "text"}`; messages that waited are dead letters',
      404: unknownSession,
      409: heldElsewhere,
    },
  },
  send: {
    method: 'POST',
    path: '/v1/sessions/:session/messages',
    summary:
      'Sends a message: text for an agent, or a tool to call. With the header `Idempotency-Key` a second one of that key is not accepted again.',
    query: {
      wait: duration({
        help: 'How long to wait for its end, such as `30s`. Else the answer comes once it is accepted.',
      }),
    },
    body: {
      text: text({ help: 'For an agent. Either this or `tool`.' }),
      agent: text({ help: 'Which agent. Else the one that was asked last, else the first that is configured.' }),
      tool: section(
        {
          server: name,
          name,
          arguments: { ...anyObject, required: undefined } as Key<object | undefined>,
        },
        { help: 'The tool to call, `{"server", "name", "arguments"}`.' },
      ),
    },
    answers: {
      200: 'what became of it: it has ended within `wait`; or, with `"duplicate": true`, was accepted before under this key',
      202: '`{"id", "durable", "state": "waiting"}`: it is accepted, and on disk where `durable` is true; after `wait`, and of one that was accepted before, the state may be `running`',
      404: unknownSession,
      409: 'another process has the session, in a file',
      410: 'one was accepted before under this key, and its end is not known any more',
      422: 'another message was accepted under this key',
      429: 'the mailbox is full, or its server or agent has no place in time',
      503: 'it is stopping, or the database is out of reach',
    },
  },
  message: {
    method: 'GET',
    path: '/v1/sessions/:session/messages/:message',
    summary: 'What became of a message.',
    answers: {
      200: '`{"id", "state", "result", "error"}`; `state` is `waiting`, `running`, `done`, `failed`, `declined` or `dead`',
      404: 'nobody knows this message any more',
      503: unreadable,
    },
  },
  history: {
    method: 'GET',
    path: '/v1/sessions/:session/history',
    summary: 'Messages, calls and their results, oldest first.',
    answers: { 200: '`{"history": […]}`', 404: unknownSession, 503: unreadable },
  },
  why: {
    method: 'GET',
    path: '/v1/sessions/:session/why',
    summary: 'What the session waits for, and which rule ends that when.',
    answers: {
      200: 'as `gateway.why(session)` gives it, without secrets; of a session that another process has `owner`, and what is `onRecord`',
      404: unknownSession,
      503: unreadable,
    },
  },
  events: {
    method: 'GET',
    path: '/v1/sessions/:session/events',
    summary:
      'What happens in the session from now on, as server-sent events. With `Last-Event-ID` what was missed comes first: from memory, or behind an event `missed` what is on record.',
    answers: { 200: '`text/event-stream`', 404: unknownSession, 409: heldElsewhere, 503: 'too many read already' },
  },
  cancel: {
    method: 'POST',
    path: '/v1/sessions/:session/cancel',
    summary: 'Ends a pending call, or the message that is being processed. The session goes on.',
    body: { call: text({ help: 'Id of a call. Else all of the message.' }), why: text({ help: 'For the record.' }) },
    answers: { 200: '`{"ok", "text"}`', 404: unknownSession, 409: heldElsewhere },
  },
  fire: {
    method: 'POST',
    path: '/v1/sessions/:session/fire',
    summary: 'Has a rule of `why` act now.',
    body: { rule, why: text({ help: 'For the record.' }) },
    answers: {
      200: '`{"ok", "text"}`; a rule that has changed since is refused',
      404: unknownSession,
      409: heldElsewhere,
    },
  },
} as const satisfies Readonly<Record<string, Route>>;

export type RouteName = keyof typeof routes;
