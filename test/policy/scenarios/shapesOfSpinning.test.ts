import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  healthyForms,
  healthyShapes,
  isCall,
  type Shape,
  type ShapeCall,
  type SpinningShape,
  spinningForms,
  spinningShapes,
} from './shapes/index.ts';
import { healthySecond, spinningSecond } from './shapes/second/index.ts';

const all: readonly Shape[] = [...healthyShapes, ...spinningShapes, ...healthySecond, ...spinningSecond];
const calls = (shape: Shape): readonly ShapeCall[] => shape.steps.filter(isCall);
const namesOf = <T extends Shape>(shapes: readonly T[], wrong: (shape: T) => boolean): readonly string[] =>
  shapes.filter(wrong).map((shape) => shape.name);

const stepsUntilNoticed = (shape: SpinningShape) => shape.steps.slice(0, shape.noticedBy + 1);
const untilNoticed = (shape: SpinningShape): readonly ShapeCall[] => stepsUntilNoticed(shape).filter(isCall);
const lastOf = (shape: SpinningShape): ShapeCall | undefined => {
  const last = shape.steps[shape.noticedBy];
  return last !== undefined && isCall(last) ? last : undefined;
};
const pairOf = (call: ShapeCall): string => `${call.tool} ${JSON.stringify(call.input)}`;

/** Tells whether calls of another tool, each made once, stand between the repeated ones. */
const hasOthers = (shape: SpinningShape): boolean => {
  const others = untilNoticed(shape).filter((call) => call.tool !== lastOf(shape)?.tool);
  const made = (call: ShapeCall) => others.filter((other) => pairOf(other) === pairOf(call)).length;
  return others.some((call) => made(call) === 1);
};

describe('shapes of sessions', () => {
  it('[G-15] are fifty of each kind at least', () => {
    expect(healthyShapes.length).toBeGreaterThanOrEqual(50);
    expect(spinningShapes.length).toBeGreaterThanOrEqual(50);
    expect(healthySecond.length).toBeGreaterThanOrEqual(60);
    expect(spinningSecond.length).toBeGreaterThanOrEqual(60);
  });

  it('[G-15] have names of their own', () => {
    const names = all.map((shape) => shape.name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('[G-15] answer each call once', () => {
    const answers = (call: ShapeCall) =>
      [call.text, call.value, call.failure].filter((part) => part !== undefined).length;
    expect(namesOf(all, (shape) => calls(shape).some((call) => answers(call) !== 1))).toEqual([]);
  });

  it('[G-15] have arguments of JSON and up to 130 calls', () => {
    const plain = (call: ShapeCall) => isDeepStrictEqual(JSON.parse(JSON.stringify(call.input)), call.input);
    expect(namesOf(all, (shape) => !calls(shape).every(plain))).toEqual([]);
    expect(namesOf(all, (shape) => calls(shape).length === 0 || calls(shape).length > 130)).toEqual([]);
  });

  it('[G-15] declare tools that are called', () => {
    const idle = (shape: Shape) =>
      Object.keys(shape.tools ?? {}).some((tool) => !calls(shape).some((call) => call.tool === tool));
    expect(namesOf(all, idle)).toEqual([]);
  });
});

describe('spinning shapes', () => {
  it('[G-15] are noticed by a call within a window of sixty', () => {
    expect(namesOf(spinningShapes, (shape) => lastOf(shape) === undefined)).toEqual([]);
    const own = (shape: SpinningShape) => untilNoticed(shape).filter((call) => call.agent === lastOf(shape)?.agent);
    expect(namesOf(spinningShapes, (shape) => own(shape).length < 11 || own(shape).length > 60)).toEqual([]);
  });

  it('[G-15] have failed or succeeded alike eleven times until then', () => {
    const alike = (shape: SpinningShape) =>
      untilNoticed(shape).filter(
        (call) =>
          call.tool === lastOf(shape)?.tool &&
          call.agent === lastOf(shape)?.agent &&
          call.failure?.kind === lastOf(shape)?.failure?.kind,
      );
    expect(namesOf(spinningShapes, (shape) => alike(shape).length < 11)).toEqual([]);
  });

  it.each(Object.entries(spinningForms))(
    '[G-15] come with a compaction, a restart and others between: %s',
    (_, shapes) => {
      expect(shapes.some((shape) => stepsUntilNoticed(shape).includes('compaction'))).toBe(true);
      expect(shapes.some((shape) => stepsUntilNoticed(shape).includes('restart'))).toBe(true);
      expect(shapes.some(hasOthers)).toBe(true);
      expect(shapes.some((shape) => !shape.steps.some((step) => !isCall(step)))).toBe(true);
    },
  );

  it('[G-15] are declared reads, undeclared successes and failures', () => {
    const ends = spinningShapes.map((shape) => {
      const last = lastOf(shape);
      if (last === undefined) return 'none';
      if (last.failure !== undefined) return 'failure';
      return shape.tools?.[last.tool]?.effect === 'readOnly' ? 'read' : 'undeclared';
    });
    expect(new Set(ends)).toEqual(new Set(['failure', 'read', 'undeclared']));
    expect(spinningShapes.some((shape) => shape.steps.some((step) => isCall(step) && step.agent !== undefined))).toBe(
      true,
    );
  });

  it('[G-15] have no tool that is declared to be polled or repeated', () => {
    const declared = spinningShapes.flatMap((shape) => Object.values(shape.tools ?? {}));
    expect(declared.filter((tool) => tool.poll === true || tool.repeats !== undefined)).toEqual([]);
  });
});

describe('healthy shapes', () => {
  it.each(Object.entries(healthyForms))('[G-15] are seven of a form at least: %s', (_, shapes) => {
    expect(shapes.length).toBeGreaterThanOrEqual(7);
  });

  it('[G-15] are long, and some go on after a restart or a compaction', () => {
    expect(healthyShapes.filter((shape) => calls(shape).length >= 40).length).toBeGreaterThanOrEqual(40);
    expect(healthyShapes.some((shape) => shape.steps.includes('restart'))).toBe(true);
    expect(healthyShapes.some((shape) => shape.steps.includes('compaction'))).toBe(true);
  });

  it('[G-15] have tools of every declaration', () => {
    const tools = healthyShapes.flatMap((shape) => Object.values(shape.tools ?? {}));
    expect(new Set(tools.map((tool) => tool.effect))).toEqual(
      new Set(['readOnly', 'idempotent', 'mutating', undefined]),
    );
    expect(tools.some((tool) => tool.poll === true)).toBe(true);
    expect(tools.some((tool) => tool.repeats === 'allowed')).toBe(true);
  });

  it('[G-15] fail alike by one agent twenty times in a row only where the answer or the operator says why', () => {
    const unexplained = namesOf(healthyShapes, (shape) => {
      let run = 0;
      let before = '';
      return calls(shape).some((call) => {
        const line = call.failure?.message.split('\n', 1)[0] ?? '';
        const key = `${call.agent ?? ''} ${pairOf(call)} ${line}`;
        const counts = call.failure !== undefined && (call.tookMs ?? 50) < 30_000 && !/retry|again|until/i.test(line);
        run = counts ? (key === before ? run + 1 : 1) : 0;
        before = key;
        const tool = shape.tools?.[call.tool];
        return run >= 20 && tool?.poll !== true && tool?.repeats !== 'allowed';
      });
    });
    expect(unexplained).toEqual([]);
  });
});
