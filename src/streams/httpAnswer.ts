/** Answer of a server by HTTP, as far as it is read here: a `Response` is one, and so is what comes without one. */
export interface HttpAnswer {
  readonly status: number;
  /** True for a status of success. */
  readonly ok: boolean;
  readonly headers: Pick<Headers, 'get' | 'has'>;
  readonly body: AnswerBody | null;
  readonly bodyUsed: boolean;
  /** The body where all of it is there, and was not asked for; undefined also where that is not known. */
  readonly arrived?: readonly Uint8Array[] | undefined;
}

/** Body of an answer, which one reader reads. */
export interface AnswerBody {
  readonly locked: boolean;
  getReader(): AnswerReader;
  /** Gives up what has not been read, and with it the connection. */
  cancel(): Promise<void>;
}

/** Reader of a body. */
export interface AnswerReader {
  /** Resolves with the next bytes, or with none at the end; rejects with what the connection broke with. */
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}
