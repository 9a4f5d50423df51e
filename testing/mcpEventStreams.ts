import type { ServerResponse } from 'node:http';

/** A stream of events; what its client missed is sent again to one that names the last event it has. */
interface EventStream {
  readonly events: string[];
  readonly readers: Set<ServerResponse>;
  isOver: boolean;
}

/** Event streams as the protocol has them, by numbers. Their events are kept. */
export class McpEventStreams {
  readonly #streams = new Map<string, EventStream>();
  #count = 0;

  /** Begins a stream with this reader. @param retryMs - tells the client when to come back. */
  begin(reader: ServerResponse, retryMs?: number): string {
    this.#count += 1;
    const stream = String(this.#count);
    this.#streams.set(stream, { events: [], readers: new Set(), isOver: false });
    openEvents(reader);
    if (retryMs !== undefined) reader.write(`retry: ${retryMs}\n\n`);
    this.#join(stream, reader);
    return stream;
  }

  /** Sends an event to whoever reads the stream, now or later. @param withId - under which it can be asked for again. */
  send(stream: string, message: object | undefined, withId: boolean): void {
    const found = this.#streams.get(stream);
    if (found === undefined) return;
    const id = withId ? `id: ${stream}-${found.events.length}\n` : '';
    const event = `${id}${message === undefined ? '' : 'event: message\n'}data: ${message === undefined ? '' : JSON.stringify(message)}\n\n`;
    found.events.push(event);
    for (const reader of found.readers) reader.write(event);
  }

  /** No event follows. */
  end(stream: string): void {
    const found = this.#streams.get(stream);
    if (found === undefined) return;
    found.isOver = true;
    for (const reader of found.readers) reader.end();
  }

  isRead(stream: string): boolean {
    return (this.#streams.get(stream)?.readers.size ?? 0) > 0;
  }

  /** Takes its readers from a stream, which goes on without them. */
  part(stream: string): readonly ServerResponse[] {
    const readers = this.#streams.get(stream)?.readers;
    const parted = [...(readers ?? [])];
    readers?.clear();
    return parted;
  }

  /** Goes on after this event with a new reader. False when there is no such event. */
  resume(lastEventId: string, reader: ServerResponse): boolean {
    const [stream = '', index = ''] = lastEventId.split('-');
    const found = this.#streams.get(stream);
    if (found?.events[Number(index)] === undefined) return false;
    openEvents(reader);
    for (const event of found.events.slice(Number(index) + 1)) reader.write(event);
    if (found.isOver) reader.end();
    else this.#join(stream, reader);
    return true;
  }

  #join(stream: string, reader: ServerResponse): void {
    const readers = this.#streams.get(stream)?.readers;
    readers?.add(reader);
    reader.on('close', () => readers?.delete(reader));
  }
}

/** The head of an event stream, sent at once. */
export function openEvents(response: ServerResponse): void {
  if (response.headersSent) return;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' });
  response.flushHeaders();
}
