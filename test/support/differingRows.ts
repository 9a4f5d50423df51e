/** How the table of a page differs from what it should be: the rows alone, since a page is long. */
export function differingRows({ is, shouldBe }: { readonly is: string; readonly shouldBe: string }): readonly string[] {
  const [own, wanted] = [is.split('\n'), shouldBe.split('\n')];
  const differing = [
    ...wanted.filter((row) => !own.includes(row)).map((row) => `missing: ${row}`),
    ...own.filter((row) => !wanted.includes(row)).map((row) => `stale: ${row}`),
  ];
  return differing.length === 0 && is !== shouldBe ? ['in another order, or a row twice'] : differing;
}
