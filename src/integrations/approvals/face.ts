// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export {
  type ApprovalAnswer,
  type ApprovalHandler,
  type Approver,
  permissionOfTool,
  superviseApproval,
} from './approvals.ts';
