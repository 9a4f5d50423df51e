import {
  type Given,
  type Key,
  type Values,
  boolean,
  byName,
  choice,
  duration,
  integer,
  test,
  text,
} from '../src/policy/options/face.ts';
import { answerFaults, askedMethod, nthKey, scriptKey, someText } from './mcpAnswerFaults.ts';
import type { GivenAct, ReadAct } from './variants.ts';

const matchKeys = {
  /**
   * The method of the message in a POST; or `POST` for any, `GET` for one that opens a standing stream, `resume` for a GET with
   * Last-Event-ID, `DELETE`, `any` for all of them. @defaultValue 'tools/call'
   */
  on: text(),
  /** Only calls of this tool, which the server then has. */
  tool: text(),
  /** Choice among the requests that match the rest of the rule, counted from 1. @defaultValue all */
  nth: nthKey,
  /** True where the tool runs, and is counted. @defaultValue as the fault says; true where it says nothing */
  runs: boolean(),
};

/** Requests that a fault befalls: all that match every condition given. */
export interface McpHttpFaultMatch extends Given<typeof matchKeys> {}

const sessionStatus = test<404 | 400>('404 or 400', (value) => value === 404 || value === 400);

const mcpHttpFaults = {
  /** Answers with this status and body in place of a message. The tool has not run. */
  status: {
    /** From 200 to 599. */
    status: integer({ min: 200, max: 599, required: true }),
    /** As `retry-after`, `www-authenticate` or `location`. @defaultValue {} */
    headers: byName(someText),
    /** @defaultValue '' */
    body: someText,
  },
  /** Forgets the session of the request, and refuses the request for it. The tool has not run. */
  lose_session: {
    /** @defaultValue 404 */
    status: sessionStatus,
  },
  /** Sends nothing, not even headers. */
  no_headers: {},
  /** Sends nothing until `release()` of the server, then the answer. */
  hold: {},
  /** Opens an event stream, and no answer ever comes on it. */
  silent_stream: {
    /** Bytes that come in its place: comments, or progress of the request that never ends. @defaultValue 'nothing' */
    sends: choice(['nothing', 'comments', 'progress']),
    /** Between two of them, in ms above 0. @defaultValue 100 */
    everyMs: duration(),
  },
  /** Opens an event stream and ends it, or resets it, without the answer. */
  lost_stream: {
    /** @defaultValue 'end' */
    how: choice(['end', 'reset']),
    /** Sends an event ID first, under which the client can get the rest. @defaultValue `eventIds` of the server */
    primed: boolean(),
    /** Sent as `retry`, from 0. @defaultValue none */
    retryMs: duration({ zero: true }),
  },
  /** Ends the connection before any header. */
  disconnect: {
    /** @defaultValue 'reset' */
    how: choice(['reset', 'end']),
  },
  /** Cuts the body: promises more bytes than come before the connection ends, or fewer than the answer has. */
  cut: {
    /** @defaultValue 'more' */
    promises: choice(['more', 'fewer']),
  },
  /** Begins the body, then sends a blank each `everyMs`, for ever. */
  trickle: {
    /** In ms above 0. @defaultValue 500 */
    everyMs: duration(),
  },
  /** Answers 202 without a body, as to a notification. */
  accepted: {},
  /** Answers 200 with a page, such as a login. */
  html: {},
  /** Answers 200 with this as JSON, or as the data of an event. */
  malformed: {
    /** @defaultValue '{"jsonrpc":"2.0",' */
    body: someText,
  },
  /** Asks the client on the event stream of the request, and answers with the reply (sessions only). */
  ask: { method: askedMethod },
  /** From now on nothing gets through, either way, on no connection, until `heal()` of the server. */
  black_hole: {},
  ...answerFaults,
};

/** Fault that a faulty MCP server over HTTP can do to one request; everything else it does right. */
export type McpHttpFault = GivenAct<typeof mcpHttpFaults>;

/** A fault whose options were read. */
export type ReadMcpHttpFault = ReadAct<typeof mcpHttpFaults>;

/** Line of the script: what goes wrong, and when. */
export type McpHttpFaultRule = McpHttpFault & McpHttpFaultMatch;

/** A line that was read. */
export type ReadMcpHttpRule = ReadMcpHttpFault & Values<typeof matchKeys>;

/** The lines of a script. */
export const httpRulesKey: Key<readonly ReadMcpHttpRule[], readonly McpHttpFaultRule[] | undefined> = scriptKey(
  mcpHttpFaults,
  matchKeys,
);

/** Tells whether a tool runs that this rule befalls. */
export function letsToolRun(rule: ReadMcpHttpRule | undefined): boolean {
  return rule?.runs ?? !(rule?.do === 'status' || rule?.do === 'lose_session');
}
