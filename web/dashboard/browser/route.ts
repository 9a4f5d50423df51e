import { computed, signal } from '@preact/signals';

export const viewNames = {
  overview: 'Overview',
  sessions: 'Sessions',
  integrations: 'Integrations',
  processes: 'Processes',
  events: 'Events',
  alerts: 'Alerts',
  letters: 'Dead letters',
  machines: 'Machines',
} as const;

export type ViewName = keyof typeof viewNames;
/** In their order on the page. */
export const views = Object.keys(viewNames) as ViewName[];

/** Content of the address: a view, what it is about, and its filters. */
export interface Route {
  readonly view: ViewName;
  readonly subject: string | undefined;
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener('hashchange', followAddress);

/** Reads the address anew, where it was changed without an event. */
export function followAddress(): void {
  hash.value = location.hash;
}

export const route = computed((): Route => {
  const [path = '', query = ''] = hash.value.replace(/^#\/?/, '').split('?');
  const [view = '', subject] = path.split('/');
  return {
    view: views.find((each) => each === view) ?? 'overview',
    subject: subject === undefined || subject === '' ? undefined : decode(subject),
    query: new URLSearchParams(query),
  };
});

/** Time that the figures look back. */
export const span = computed(() => route.value.query.get('span') ?? '1h');

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a view; the span of time stays. */
export function href(view: ViewName, subject?: string, query: Readonly<Record<string, string>> = {}): string {
  const all = new URLSearchParams({ ...(span.value !== '1h' && { span: span.value }), ...query });
  return addressOf({ view, subject, query: all });
}

function addressOf({ view, subject, query }: Route): string {
  const end = query.size === 0 ? '' : `?${query}`;
  return `#/${view}${subject === undefined ? '' : `/${encodeURIComponent(subject)}`}${end}`;
}

/** Sets filters of the view that is shown; an empty one is taken away. The browser's history does not grow by them. */
export function narrow(change: Readonly<Record<string, string>>): void {
  const { view, subject, query } = route.value;
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(change)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  location.replace(addressOf({ view, subject, query: next }));
}
