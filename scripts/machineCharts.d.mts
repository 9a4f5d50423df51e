/** A statechart with the places of all that is drawn, in px from its left upper corner. */
export interface LaidOutChart {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Each once; `*` stands for what holds in every state. */
  readonly states: readonly {
    readonly id: string;
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  }[];
  /** One for all transitions from one state to another. */
  readonly arrows: readonly { readonly from: string; readonly to: string; readonly path: string }[];
}

/** The charts of all machines. They are laid out once in a process. */
export function layOutMachines(): Promise<readonly LaidOutChart[]>;
