// An agent of a few lines over the SDK of OpenAI or Anthropic: it runs the tool once the answer is whole, and ends with what the SDK throws.
import { execSync } from 'node:child_process';

const [sdk, baseURL] = process.argv.slice(2);

async function openai() {
  const { default: OpenAI } = await import('openai');
  const client = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey: 'x' });
  const messages = [{ role: 'user', content: 'do it' }];
  for (;;) {
    const stream = client.chat.completions.stream({ model: 'm', messages });
    const { content, tool_calls: calls = [] } = await stream.finalMessage();
    if (calls.length === 0) return content;
    messages.push({ role: 'assistant', content, tool_calls: calls });
    for (const {
      id,
      function: { arguments: text },
    } of calls) {
      messages.push({
        role: 'tool',
        tool_call_id: id,
        content: execSync(JSON.parse(text).command, { encoding: 'utf8' }),
      });
    }
  }
}

async function anthropic() {
  const { default: Anthropic } = await import('@anthropic-ai/sdk');
  const client = new Anthropic({ baseURL, apiKey: 'x' });
  const messages = [{ role: 'user', content: 'do it' }];
  for (;;) {
    const { content } = await client.messages.stream({ model: 'm', max_tokens: 1000, messages }).finalMessage();
    const calls = content.filter(({ type }) => type === 'tool_use');
    if (calls.length === 0) return content[0].text;
    const results = calls.map(({ id, input }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: execSync(input.command, { encoding: 'utf8' }),
    }));
    messages.push({ role: 'assistant', content }, { role: 'user', content: results });
  }
}

console.log(await (sdk === 'openai' ? openai() : anthropic()));
