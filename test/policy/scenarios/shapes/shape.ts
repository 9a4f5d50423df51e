/** Kinds of a failure. */
export type ShapeFailureKind = 'tool_error' | 'timeout' | 'transient' | 'rate_limit' | 'invalid' | 'auth' | 'unknown';

/** One call of a session with its answer. */
export interface ShapeCall {
  readonly tool: string;
  /** JSON arguments. */
  readonly input: unknown;
  /** Answer of a success. */
  readonly text?: string;
  /** Answer of a success that is no text. */
  readonly value?: unknown;
  readonly failure?: { readonly kind: ShapeFailureKind; readonly message: string };
  /** Time the call took; 50 where there is none. */
  readonly tookMs?: number;
  /** Sub-agent that made the call; undefined: the main one. */
  readonly agent?: string;
}

export type ShapeBreak = 'restart' | 'compaction';
export type ShapeStep = ShapeCall | ShapeBreak;

/** Declaration of a tool, by the operator or by the annotations of its server. */
export interface ShapeTool {
  readonly effect?: 'readOnly' | 'idempotent' | 'mutating';
  readonly poll?: true;
  readonly repeats?: 'allowed';
}

/** A recorded session: its calls in order, with what is declared of its tools. */
export interface Shape {
  /** Unique, a short phrase. */
  readonly name: string;
  /** Public issue or program it is taken from, where there is one. */
  readonly source?: string;
  /** Declared by the operator or by the server's annotations; a tool without an entry is undeclared. */
  readonly tools?: Readonly<Record<string, ShapeTool>>;
  readonly steps: readonly ShapeStep[];
}

/** A session that goes round in circles. */
export interface SpinningShape extends Shape {
  /** Index in `steps` of the call that is the tenth repetition (the eleventh occurrence) of the pair or the cycle. */
  readonly noticedBy: number;
}

export const isCall = (step: ShapeStep): step is ShapeCall => typeof step !== 'string';
