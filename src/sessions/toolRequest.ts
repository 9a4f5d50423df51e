import type { Outcome } from '../policy/failure.ts';
import type { ToolCallOptions } from './toolCallOptions.ts';
import type { ToolResult } from './toolResult.ts';

/** A request as a function integration gets it from `turn.tool`; `Input` is what the turn gave to the tool. */
export interface ToolRequest<Input = unknown> {
  readonly tool: string;
  readonly input: Input;
}

/** Stands for the input of an integration that is no tool: nothing is assignable to it, and its name is read in what the compiler says. */
export interface OperationTakesInsteadOfToolRequest<Request> {
  readonly 'a tool is given { tool, input }; this operation takes': Request;
}

/**
 * What `turn.tool` takes for an integration of these requests: the `input` of a {@link ToolRequest}, the arguments of an MCP tool, the request
 * of a command itself. An operation that reads no `input` takes any.
 */
export type ToolInput<Request> = ToolRequest extends Request
  ? unknown
  : Request extends ToolRequest<infer Input>
    ? Input
    : Request extends { readonly tool: string; readonly input?: infer Input }
      ? Input | undefined
      : Request extends { readonly name: string; readonly arguments?: infer Arguments }
        ? Arguments
        : Request extends { readonly args?: readonly string[] | undefined }
          ? Request
          : Request extends { readonly input: infer Input }
            ? Input
            : OperationTakesInsteadOfToolRequest<Request>;

/** What of an integration says what it takes and what it answers. */
interface Callable<Request, Value> {
  readonly name: string;
  call(request: Request): Promise<Outcome<Value>>;
}

/** What follows the name of the tool. */
type ToolArguments<Target, Input> =
  Target extends Callable<infer Request, unknown>
    ? undefined extends ToolInput<Request>
      ? [input?: ToolInput<Request> | undefined, options?: ToolCallOptions]
      : [input: ToolInput<Request>, options?: ToolCallOptions]
    : [input?: Input | undefined, options?: ToolCallOptions];

type ToolValue<Target, Value> = Target extends Callable<never, infer Answer> ? Answer : Value;

/**
 * Calls a tool: of an integration, whose types carry through, or of the name of one, where the caller may say them: `<Input, Value>`. One
 * signature for both, so that a mistake is told of the argument that is wrong.
 */
export type CallTool = <Input = unknown, Value = unknown, Target extends string | Callable<never, unknown> = string>(
  integration: Target,
  tool: string,
  ...input: ToolArguments<Target, Input>
) => Promise<ToolResult<ToolValue<Target, Value>>>;
