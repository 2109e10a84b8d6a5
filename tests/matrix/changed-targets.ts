import type { TargetFile } from '../../harness/target/model.ts'

/** For a server with these variants: PDF parsing is declared as removed, if it will be (§9.2), and nothing cleaned up. */
export const fitting = (variants: readonly string[]) =>
  variants.some((variant) => variant.startsWith('pdf-removed')) ? withPdfRemoved : withoutCleanup

function withPdfRemoved(file: TargetFile): TargetFile {
  const whole = withoutCleanup(file)
  return { ...whole, operations: { ...whole.operations, 'pdf.parse': 'removed' } }
}

/** Declares a chat of two messages: a server may look at the last alone. */
export function withTwoMessages(file: TargetFile): TargetFile {
  const chat = file.operations?.['chat.create']
  if (typeof chat !== 'object') throw new Error('the target declares no chat')
  const body = chat.body as { readonly messages: readonly unknown[] }
  const messages = [{ role: 'system', content: 'Answer in one line' }, ...body.messages]
  return {
    ...file,
    operations: { ...file.operations, 'chat.create': { ...chat, body: { ...body, messages } } },
  }
}

/** Cleans nothing up: a server that ends with its run needs none, and each clean-up takes a connection of its own. */
export function withoutCleanup(file: TargetFile): TargetFile {
  const operations = Object.entries(file.operations ?? {}).map(([id, declared]) => {
    if (typeof declared !== 'object' || !('cleanup' in declared)) return [id, declared]
    const { cleanup: _cleanup, ...binding } = declared
    return [id, binding]
  })
  return {
    ...file,
    operations: Object.fromEntries(operations) as NonNullable<TargetFile['operations']>,
  }
}
