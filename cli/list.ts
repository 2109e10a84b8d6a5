import { Command } from 'commander'
import { catalogue, published } from '../catalogue/catalogue.ts'

export function listCommand(): Command {
  return new Command('list')
    .description('the requirements of the suite')
    .option('--json', 'as a JSON array')
    .action(({ json }: { json?: boolean }) => {
      process.stdout.write(json ? `${JSON.stringify(catalogue.map(published), null, 2)}\n` : listText())
    })
}

/** One line a requirement, under a heading for each operation. */
function listText(): string {
  const operations = [...new Set(catalogue.map(({ operation }) => operation))]
  const width = Math.max(...catalogue.map(({ id }) => id.length))
  const blocks = operations.map((operation) => {
    const rows = catalogue.filter((row) => row.operation === operation)
    const lines = rows.map(
      ({ id, level, section, statement }) =>
        `  ${id.padEnd(width)}  ${level.padEnd(6)}  §${section.padEnd(13)}  ${statement}`,
    )
    return [operation, ...lines].join('\n')
  })
  return `${blocks.join('\n\n')}\n`
}
