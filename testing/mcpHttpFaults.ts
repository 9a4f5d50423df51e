import type { Duration } from '../src/policy/duration.ts';
import {
  boolean,
  byName,
  choice,
  duration,
  integer,
  type Keys,
  type Given,
  test,
  text,
} from '../src/policy/optionKeys.ts';
import {
  answerFaultKeys,
  type AskedMethod,
  askedMethod,
  type McpAnswerFault,
  nthKey,
  scriptKey,
  someText,
} from './mcpAnswerFaults.ts';

/** Fault that a faulty MCP server over HTTP can do to one request; everything else it does right. */
export type McpHttpFault =
  | McpAnswerFault
  /** Answers with this status and body in place of a message. The tool has not run. */
  | {
      readonly do: 'status';
      /** From 200 to 599. */
      readonly status: number;
      /** As `retry-after`, `www-authenticate` or `location`. @defaultValue {} */
      readonly headers?: Readonly<Record<string, string>> | undefined;
      /** @defaultValue '' */
      readonly body?: string | undefined;
    }
  /** Forgets the session of the request, and refuses the request for it. The tool has not run. */
  | {
      readonly do: 'lose_session';
      /** @defaultValue 404 */
      readonly status?: 404 | 400 | undefined;
    }
  /** Sends nothing, not even headers. */
  | { readonly do: 'no_headers' }
  /** Sends nothing until `release()` of the server, then the answer. */
  | { readonly do: 'hold' }
  /** Opens an event stream, and no answer ever comes on it. */
  | {
      readonly do: 'silent_stream';
      /** Bytes that come in its place: comments, or progress of the request that never ends. @defaultValue 'nothing' */
      readonly sends?: 'nothing' | 'comments' | 'progress' | undefined;
      /** Between two of them, in ms above 0. @defaultValue 100 */
      readonly everyMs?: Duration | undefined;
    }
  /** Opens an event stream and ends it, or resets it, without the answer. */
  | {
      readonly do: 'lost_stream';
      /** @defaultValue 'end' */
      readonly how?: 'end' | 'reset' | undefined;
      /** Sends an event ID first, under which the client can get the rest. @defaultValue `eventIds` of the server */
      readonly primed?: boolean | undefined;
      /** Sent as `retry`, from 0. @defaultValue none */
      readonly retryMs?: Duration | undefined;
    }
  /** Ends the connection before any header. */
  | {
      readonly do: 'disconnect';
      /** @defaultValue 'reset' */
      readonly how?: 'reset' | 'end' | undefined;
    }
  /** Cuts the body: promises more bytes than come before the connection ends, or fewer than the answer has. */
  | {
      readonly do: 'cut';
      /** @defaultValue 'more' */
      readonly promises?: 'more' | 'fewer' | undefined;
    }
  /** Begins the body, then sends a blank each `everyMs`, for ever. */
  | {
      readonly do: 'trickle';
      /** In ms above 0. @defaultValue 500 */
      readonly everyMs?: Duration | undefined;
    }
  /** Answers 202 without a body, as to a notification. */
  | { readonly do: 'accepted' }
  /** Answers 200 with a page, such as a login. */
  | { readonly do: 'html' }
  /** Answers 200 with this as JSON, or as the data of an event. */
  | {
      readonly do: 'malformed';
      /** @defaultValue '{"jsonrpc":"2.0",' */
      readonly body?: string | undefined;
    }
  /** Asks the client on the event stream of the request, and answers with the reply (sessions only). */
  | { readonly do: 'ask'; readonly method: AskedMethod }
  /** From now on nothing gets through, either way, on no connection, until `heal()` of the server. */
  | { readonly do: 'black_hole' };

/** Line of the script: what goes wrong, and when. */
export type McpHttpFaultRule = McpHttpFault & McpHttpFaultMatch;

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

const faultKeys: Readonly<Record<McpHttpFault['do'], Keys>> = {
  status: {
    status: integer({ min: 200, max: 599, required: true }),
    headers: byName(someText),
    body: someText,
  },
  lose_session: { status: sessionStatus },
  no_headers: {},
  hold: {},
  silent_stream: { sends: choice(['nothing', 'comments', 'progress']), everyMs: duration() },
  lost_stream: { how: choice(['end', 'reset']), primed: boolean(), retryMs: duration({ zero: true }) },
  disconnect: { how: choice(['reset', 'end']) },
  cut: { promises: choice(['more', 'fewer']) },
  trickle: { everyMs: duration() },
  accepted: {},
  html: {},
  malformed: { body: someText },
  ask: { method: askedMethod },
  black_hole: {},
  ...answerFaultKeys,
};

/** The lines of a script. */
export const httpRulesKey = scriptKey<McpHttpFaultRule>(faultKeys, matchKeys);

/** Tells whether a tool runs that this rule befalls. */
export function letsToolRun(rule: McpHttpFaultRule | undefined): boolean {
  return rule?.runs ?? !(rule?.do === 'status' || rule?.do === 'lose_session');
}
