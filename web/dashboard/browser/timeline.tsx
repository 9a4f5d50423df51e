import { useMemo, useRef, useState } from 'preact/hooks';
import { formatDuration } from '../../../src/policy/text/face.ts';
import { Box } from './box.tsx';
import { Signed } from './glyph.tsx';
import { now } from './live.ts';
import { scaleOf, type TimelineScale } from './timelineScale.ts';
import { type Segment, type TimelineRow } from './timelineRows.ts';
import { Countdown } from './times.tsx';
import { counted } from './words.ts';

interface TimelineProps {
  readonly title: string;
  readonly note: string;
  readonly rows: readonly TimelineRow[];
  /** True while it goes on, so that now is on it. */
  readonly isLive: boolean;
}

/** Shows what happened when: a row for the message and one for each call. Only the line of now, and bars that go on, move by themselves. */
export function Timeline({ title, note, rows, isLive }: TimelineProps) {
  const [onlyPending, setOnlyPending] = useState(false);
  const scale = useScale(rows);
  if (rows.length === 0) return null;
  const shown = onlyPending ? rows.filter(({ isPending }) => isPending) : rows;
  return (
    <Box
      title={title}
      note={note}
      end={
        isLive &&
        rows.length > 2 && (
          <button type="button" class="btn end" aria-pressed={onlyPending} onClick={() => setOnlyPending(!onlyPending)}>
            Only pending
          </button>
        )
      }
    >
      <Lanes scale={scale} isLive={isLive}>
        <Axis scale={scale} isLive={isLive} />
        <Grid scale={scale} isLive={isLive} />
        <ol>
          {shown.map((row) => (
            <Row key={row.key} row={row} scale={scale} isLive={isLive} />
          ))}
        </ol>
      </Lanes>
      <Legend rows={rows} />
    </Box>
  );
}

/** The same scale as long as nothing has happened: times that are measured anew differ by little. */
function useScale(rows: readonly TimelineRow[]): TimelineScale {
  const times = rows.flatMap(({ segments, marks }) => [
    ...segments.flatMap(({ from, to }) => (to === undefined ? [from] : [from, to])),
    ...marks.map(({ at }) => at),
  ]);
  const known = useRef<readonly number[]>([]);
  if (
    times.length !== known.current.length ||
    times.some((at, index) => Math.abs(at - (known.current[index] ?? 0)) > 1500)
  ) {
    known.current = times;
  }
  return useMemo(() => scaleOf(known.current), [known.current]);
}

interface LanesProps {
  readonly scale: TimelineScale;
  readonly isLive: boolean;
  readonly children: preact.ComponentChildren;
}

/** Moves the line of now, once a second; nothing in it is drawn again for that. */
function Lanes({ scale, isLive, children }: LanesProps) {
  return (
    <div class={`tl ${isLive ? 'on' : ''}`} style={{ '--now': isLive ? scale.x(now.value).toFixed(2) : '0' }}>
      {children}
    </div>
  );
}

/** Labels that are nearer to now than this, in %, make room for it. */
const nearNow = 6;

function Axis({ scale, isLive }: Omit<LanesProps, 'children'>) {
  const begunAt = scale.ticks[0]?.at ?? 0;
  const atNow = isLive ? scale.x(now.value) : -nearNow;
  return (
    <div class="axis" aria-hidden="true">
      <div />
      <div>
        {scale.ticks
          .filter(({ left }) => Math.abs(left - atNow) >= nearNow)
          .map(({ at, left }) => (
            <span key={at} style={{ left: `${left}%` }}>
              {at === begunAt ? '0s' : formatDuration(at - begunAt)}
            </span>
          ))}
        {isLive && <span class="nowl">now</span>}
      </div>
      <div />
    </div>
  );
}

function Grid({ scale, isLive }: Omit<LanesProps, 'children'>) {
  return (
    <div class="grid" aria-hidden="true">
      <div>
        {scale.ticks.map(({ at, left }) => (
          <i key={at} style={{ left: `${left}%` }} />
        ))}
        {scale.folds.map(({ left, width }) => (
          <i key={left} class="fold" style={{ left: `${left}%`, width: `${width}%` }} />
        ))}
        {isLive && <i class="now" />}
      </div>
    </div>
  );
}

interface RowProps extends Omit<LanesProps, 'children'> {
  readonly row: TimelineRow;
}

function Row({ row, scale, isLive }: RowProps) {
  const { title, sub, segments, marks, note, stateNote, rule } = row;
  const [glyph, tone, word] = row.state;
  return (
    <li data-row tabIndex={-1}>
      <div class="lbl">
        <b class="cut">
          <bdi title={title}>{title}</bdi>
        </b>
        <p class="faint cut">{sub}</p>
      </div>
      <div class="mid">
        <div class="lane bars">
          {segments.map((segment, index) => (
            <Bar key={index} segment={segment} scale={scale} />
          ))}
          {isLive &&
            marks.map(({ at, text }) => (
              <b key={text} class={`mark ${scale.x(at) > 88 ? 'l' : ''}`} style={{ left: `${scale.x(at)}%` }}>
                <span>{text}</span>
              </b>
            ))}
        </div>
        {note !== '' && (
          <p class="err wrap">
            <span>{note}</span>
          </p>
        )}
      </div>
      <div class="state">
        <Signed sign={[glyph, tone]}>{word}</Signed>
        {rule !== undefined && isLive && <Countdown at={rule.at} />}
        <span class={rule !== undefined && isLive ? 'faint' : 'faint wide'}>{stateNote}</span>
        {rule !== undefined && isLive && <span class="faint r">{rule.text}</span>}
      </div>
    </li>
  );
}

function Bar({ segment, scale }: { readonly segment: Segment; readonly scale: TimelineScale }) {
  const { look, from, to, text, title } = segment;
  const left = scale.x(from);
  const width = to === undefined ? `calc(var(--now) * 1% - ${left}%)` : `${(scale.x(to) - left).toFixed(2)}%`;
  return (
    <b
      class={`${look} ${to === undefined ? 'liveb' : ''}`}
      style={{ left: `${left.toFixed(2)}%`, width }}
      title={title}
    >
      <span>{text}</span>
      <span class="vh">{title}. </span>
    </b>
  );
}

const looks: readonly (readonly [Segment['look'], string])[] = [
  ['mail', 'in the mailbox'],
  ['fail', 'attempt failed'],
  ['back', 'waits'],
  ['run', 'in flight'],
  ['ask', 'not known yet'],
  ['held', 'held'],
  ['good', 'succeeded'],
  ['syn', 'result made by unwedge'],
];

/** Explains what is in the picture. */
function Legend({ rows }: { readonly rows: readonly TimelineRow[] }) {
  const used = new Set(rows.flatMap(({ segments }) => segments.map(({ look }) => look)));
  return (
    <div class="legend" aria-hidden="true">
      {looks
        .filter(([look]) => used.has(look))
        .map(([look, text]) => (
          <span key={look}>
            <span class="bars">
              <b class={look} />
            </span>
            {text}
          </span>
        ))}
      <span class="end">{counted(rows.length - 1, 'call')}</span>
    </div>
  );
}
