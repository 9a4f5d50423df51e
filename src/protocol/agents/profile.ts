import type { FailureKind } from '../../policy/failures/failure.ts';

/** Form of what an agent's run printed on stdout: the answer alone (`text`), one JSON value (`json`), or a message a line (`stream-json`). */
export type AgentFormat = 'text' | 'json' | 'stream-json';

/** Place of a value in a message: names of fields, joined by dots. */
type Place = string;

/** Values that fields must have, by their places: the value or one of several; `true` and `false` also stand for a field that is there, or is not. */
export type FieldTest = Readonly<Record<Place, string | number | boolean | readonly string[]>>;

/**
 * Meaning of a message. `text`: a piece of the answer. `tool`: a call of a tool. `result`: the answer of one. `failure`: why it fails, unless it gets on. `done` and `failed`: its end,
 * good or bad. `ended`: its end, good unless a failure was told and nothing said since. `traffic`: only that it lives.
 */
export type MessageMeaning = 'text' | 'tool' | 'result' | 'failure' | 'done' | 'failed' | 'ended' | 'traffic';

/** Rule for the messages of an agent: what one means, and where its parts stand. */
export interface MessageRule {
  /** Values that the fields of the message must have. */
  readonly when: FieldTest;
  /** List in the message whose elements are read instead of it. @defaultValue the message itself */
  readonly each?: Place | undefined;
  /** Values that the fields of an element must have. @defaultValue any */
  readonly item?: FieldTest | undefined;
  readonly means: MessageMeaning;
  /** The answer's piece, the answer of a tool, or the failure in words; the first that is there. */
  readonly text?: readonly Place[] | undefined;
  /** What pieces of one answer, or messages on one call of a tool, have in common. */
  readonly id?: Place | undefined;
  /** Name of the tool. */
  readonly name?: Place | undefined;
  /** Arguments of the tool. */
  readonly input?: Place | undefined;
  /** Values by which the answer of a tool is a failure: those of any one of them. @defaultValue none: it is no failure */
  readonly fails?: readonly FieldTest[] | undefined;
  /** Exit code of a tool: another one than 0 is a failure. */
  readonly exit?: Place | undefined;
  /** Number of tools that were called, where there is one message for all. */
  readonly count?: Place | undefined;
  /** HTTP status of a failure. */
  readonly status?: Place | undefined;
  /** Failure in words, where the message has none. */
  readonly says?: string | undefined;
  /** Kind of the failure, where neither words nor status tell it. */
  readonly kind?: FailureKind | undefined;
}

/** Text of an agent's own on a failure, as its beginning and its end. */
export interface ErrorText {
  readonly begins: string;
  readonly ends: string;
}

/** Line on stderr that tells why an agent failed. */
export interface ErrorLine {
  readonly begins: string;
  /** True where exit 0 is no success, if it is the last line. @defaultValue false */
  readonly atExit0?: boolean | undefined;
}

/** Output of an agent, by its messages. */
export interface AgentMessages {
  readonly rules: readonly MessageRule[];
  /** Place of the id of the session, in any message. */
  readonly session?: Place | undefined;
  /** List of a whole JSON value whose elements are read as messages, under that name and type, before the value itself. */
  readonly spread?: { readonly from: Place; readonly as: string } | undefined;
  /** True where a tool is told of only when it is over: until a good end, effects are not known. @defaultValue false */
  readonly toldLate?: boolean | undefined;
}

/** Facts about an agent's program: plain data. What is not said is not known, and then nothing is concluded from it. */
export interface AgentProfile {
  /** Name for people. */
  readonly title: string;
  /** Names of its command, without folder and extension. */
  readonly commands: readonly string[];
  /** Packages that `npx` and its kin run it from. @defaultValue [] */
  readonly packages?: readonly string[] | undefined;
  /** Owner of its models, as OpenTelemetry names it. @defaultValue not known */
  readonly provider?: string | undefined;
  /** Arguments by which it answers one request and ends: one of `words`, and none of `not`. */
  readonly headless: { readonly words: readonly string[]; readonly not?: readonly string[] | undefined };
  /** Arguments that choose the form of its output: an option with its values, or words that stand alone. @defaultValue text */
  readonly formats?:
    | {
        readonly options?: readonly string[] | undefined;
        readonly values?: Readonly<Record<string, AgentFormat>> | undefined;
        readonly words?: Readonly<Record<string, AgentFormat>> | undefined;
        /** Arguments to advise, where another form does not tell enough. */
        readonly best?: string | undefined;
      }
    | undefined;
  /** Forms that print nothing before the end: silence says nothing then. @defaultValue `json` */
  readonly silentFormats?: readonly AgentFormat[] | undefined;
  /** Reader of its output: one of our own, or rules by its form. */
  readonly output:
    | 'claude'
    | 'codex'
    | { readonly stream?: AgentMessages | undefined; readonly json?: AgentMessages | undefined };
  /** Texts of its own in place of an answer: no model wrote them. */
  readonly errorTexts?: readonly ErrorText[] | undefined;
  /** Lines on stderr that tell why it failed; the last one counts. @defaultValue all of stderr may tell */
  readonly errorLines?: readonly ErrorLine[] | undefined;
  /** Texts of failures, and the kinds they stand for, beside those that everybody has. */
  readonly kinds?: readonly { readonly pattern: string; readonly kind: FailureKind }[] | undefined;
  /**
   * Worth of an exit code that is not 0: `signal` where 128+n tells a signal by which it ended in order; `status` where it is an HTTP status modulo 256, and
   * 128+n is none. @defaultValue that it failed
   */
  readonly exits?: 'signal' | 'status' | undefined;
  /** Way to go on with a session: the words before its id. @defaultValue none is known */
  readonly resume?: { readonly words: readonly string[] } | undefined;
  /** Requests that it repeats by itself when they fail. @defaultValue none */
  readonly retries?:
    | {
        readonly kinds: readonly FailureKind[];
        /** Texts of failures that it does not repeat. @defaultValue [] */
        readonly except?: readonly string[] | undefined;
        /** Variables that bound it where we may try again. @defaultValue there are none, and what it repeated in vain is not tried again */
        readonly env?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  /** Names of its tools that only look. @defaultValue [] */
  readonly readOnlyTools?: readonly string[] | undefined;
  /** Signals and stdin as it takes them. */
  readonly stop: {
    /** Signal after which its model, resumed, is told no untruth. @defaultValue 'SIGTERM' */
    readonly signal?: 'SIGTERM' | 'SIGINT' | undefined;
    /** True where a stopped run leaves the processes of its tools alive, which we then end. */
    readonly leavesChildren: boolean;
  };
  /** How it is started to speak the Agent Client Protocol. @defaultValue not known */
  readonly acp?: AcpStart | undefined;
}

/** Start of an agent that is to speak the Agent Client Protocol. */
export interface AcpStart {
  /** Arguments of its own command that start it. */
  readonly args?: readonly string[] | undefined;
  /** Package whose command starts it, where its own does not. */
  readonly package?: string | undefined;
}
