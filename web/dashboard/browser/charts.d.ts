/** The statecharts of src/machines with the places of all that is drawn; scripts/machineCharts.mjs makes them. */
declare module '*?charts' {
  export const charts: readonly {
    readonly name: string;
    readonly summary: string;
    readonly width: number;
    readonly height: number;
    readonly states: readonly {
      /** Path of its keys, joined by dots; `*` for any state. */
      readonly id: string;
      readonly title: string;
      readonly type: string;
      readonly initial?: true;
      /** Deeds at its borders and while it lasts. */
      readonly deeds: readonly string[];
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
    }[];
    readonly arrows: readonly {
      readonly from: string;
      readonly to: string;
      readonly lines: readonly string[];
      readonly title: string;
      readonly path: string;
      /** Middle of the first line of its label. */
      readonly x: number;
      readonly y: number;
    }[];
    readonly transitions: readonly import('../../../src/inspector/face.ts').ChartTransition[];
  }[];
}
