import type { Integration } from '../calls/integration.ts';
import type { ToolCallOptions } from './toolCallOptions.ts';
import type { ToolResult } from './toolResult.ts';

/** A request as a function integration gets it from `turn.tool`; `Input` is what the turn gave to the tool. */
export interface ToolRequest<Input = unknown> {
  readonly tool: string;
  readonly input: Input;
}

/**
 * What `turn.tool` takes for an integration of these requests: the `input` of a {@link ToolRequest}, the arguments of an MCP tool, the request
 * of a command itself. A function of other requests is no tool.
 */
export type ToolInput<Request> = unknown extends Request
  ? unknown
  : Request extends ToolRequest<infer Input>
    ? Input
    : Request extends { readonly name: string; readonly arguments?: infer Arguments }
      ? Arguments
      : Request extends { readonly args?: readonly string[] | undefined }
        ? Request
        : never;

/** Calls a tool: of an integration, whose types carry through, or of the name of one. */
export interface CallTool {
  <Request, Value>(
    integration: Integration<Request, Value>,
    tool: string,
    ...input: undefined extends ToolInput<Request>
      ? [input?: ToolInput<Request>, options?: ToolCallOptions]
      : [input: ToolInput<Request>, options?: ToolCallOptions]
  ): Promise<ToolResult<Value>>;
  <Input = unknown, Value = unknown>(
    integration: string,
    tool: string,
    input?: Input,
    options?: ToolCallOptions,
  ): Promise<ToolResult<Value>>;
}
