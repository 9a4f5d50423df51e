import type { ComponentChildren } from 'preact';

interface HeadProps {
  readonly title: string;
  /** Sentence below it. */
  readonly children: ComponentChildren;
  /** Controls and choices at the other side. @defaultValue nothing */
  readonly end?: ComponentChildren;
}

/** The heading of a view: focus goes there when it is opened. */
export function Head({ title, children, end }: HeadProps) {
  return (
    <div class="head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        <p class="dim">{children}</p>
      </div>
      {end}
    </div>
  );
}
