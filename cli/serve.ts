import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { packageFile } from '../schemas/package-file.ts'
import { UserError } from '../harness/user-error.ts'
import { portOption, whole } from './run/options.ts'
import { referenceTargetFile } from './run/embedded.ts'

export function serveCommand(): Command {
  return new Command('serve')
    .description('run the embedded reference server until interrupted; prints its URL and a target file that fits it')
    .addOption(portOption())
    .addOption(
      new Option('--slow-ms <n>', 'how long a job of the slow application takes at least, in ms')
        .argParser(whole(0, 3_600_000))
        .default(250),
    )
    .action(serve)
}

async function serve({ port, slowMs }: { readonly port: number; readonly slowMs: number }): Promise<void> {
  const { startReference } = await import('../reference/server.ts')
  const reference = await startReference({ port, slowJobMs: slowMs }, true).catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UserError(`--port ${port}: cannot be listened on (${code ?? message}); give another, or 0`)
  })
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  const dir = mkdtempSync(join(tmpdir(), 'conform-serve-'))
  try {
    const target = join(dir, 'target.json')
    const file = JSON.parse(readFileSync(referenceTargetFile, 'utf8')) as object
    writeFileSync(join(dir, 'target.schema.json'), readFileSync(packageFile('schemas/target.schema.json')))
    writeFileSync(
      target,
      `${JSON.stringify({ ...file, $schema: './target.schema.json', baseUrl: reference.url }, null, 2)}\n`,
    )
    process.stdout.write(`${JSON.stringify({ url: reference.url, target })}\n`)
    await interrupted
  } finally {
    rmSync(dir, { recursive: true, force: true })
    await reference.close()
  }
}
