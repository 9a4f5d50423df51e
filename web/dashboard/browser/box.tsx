import type { ComponentChildren } from 'preact';
import { href, type ViewName, viewNames } from './route.ts';

interface BoxProps {
  readonly title: ComponentChildren;
  /** Name of the part, for who does not see it. @defaultValue the title */
  readonly label?: string | undefined;
  /** Beside the title. @defaultValue nothing */
  readonly note?: ComponentChildren;
  /** Controls and states beside the title. @defaultValue none */
  readonly end?: ComponentChildren;
  readonly look?: string;
  readonly children: ComponentChildren;
}

/** A part of a view, with its heading. */
export function Box({
  title,
  label = typeof title === 'string' ? title : undefined,
  note,
  end,
  look = '',
  children,
}: BoxProps) {
  return (
    <section class={`box ${look}`} aria-label={label}>
      <div class="sh">
        <h2>{title}</h2>
        {note !== undefined && <span class="faint">{note}</span>}
        {end}
      </div>
      {children}
    </section>
  );
}

interface HeadProps {
  readonly title: ComponentChildren;
  /** Classes of the title. @defaultValue none */
  readonly look?: string;
  /** View that this is a part of, told above. @defaultValue none */
  readonly within?: ViewName;
  /** Role of the sentence below. @defaultValue none */
  readonly role?: 'status' | undefined;
  /** Sentence below it. */
  readonly children?: ComponentChildren;
  /** Controls and choices at the other side. @defaultValue nothing */
  readonly end?: ComponentChildren;
}

/** The heading of a view: focus goes there when it is opened. */
export function Head({ title, look = '', within, role, children, end }: HeadProps) {
  return (
    <div class="head">
      <div>
        {within !== undefined && (
          <p class="faint">
            <a href={href(within)}>{viewNames[within]}</a> / <bdi>{title}</bdi>
          </p>
        )}
        <h1 class={look} tabIndex={-1}>
          {within === undefined ? title : <bdi>{title}</bdi>}
        </h1>
        {children !== undefined && (
          <p class="dim" role={role}>
            {children}
          </p>
        )}
      </div>
      {end}
    </div>
  );
}

/** Tells what will be here, and how; or that the filters leave nothing. */
export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}

interface ToProps {
  readonly view: ViewName;
  readonly name: string;
  /** Text in its place. @defaultValue the name */
  readonly text?: string;
  /** Classes of it. @defaultValue as a link within a text */
  readonly look?: string;
}

/** The way to the page of an integration or a session. */
export function To({ view, name, text = name, look = 'link' }: ToProps) {
  return (
    <a class={look} href={href(view, name)}>
      <bdi>{text}</bdi>
    </a>
  );
}

/** The same where a row is about it. */
export function Titled(props: Pick<ToProps, 'view' | 'name'>) {
  return (
    <b>
      <To {...props} look="" />
    </b>
  );
}
