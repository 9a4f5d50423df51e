interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  readonly targets: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
}

export function grafanaDashboard(names: readonly string[]): {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
};
export function dashboardFile(names: readonly string[]): { readonly is: string; readonly shouldBe: string };
