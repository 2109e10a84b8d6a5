import { Command } from 'commander'
import { keyId } from '../certificate/certificate-file.ts'
import { writeKeyPair, newPassphrase, processSpeaker } from '../certificate/keys.ts'

export function keygenCommand(): Command {
  return new Command('keygen')
    .description(
      'make an Ed25519 key pair for signing certificates; overwrites nothing. A passphrase is asked for on a terminal, or taken from CONFORM_KEY_PASSPHRASE',
    )
    .option('--private-key <pem>', 'where to write the private key, readable by its owner only', 'conform-key.pem')
    .option('--public-key <pem>', 'where to write the public key', 'conform-key.pub.pem')
    .action(async (options: { privateKey: string; publicKey: string }) => {
      const passphrase = await newPassphrase(processSpeaker())
      const { publicKey } = writeKeyPair(options.privateKey, options.publicKey, passphrase)
      const kept = passphrase === undefined ? 'keep it secret; it has no passphrase' : 'keep it secret'
      process.stdout.write(
        `private key: ${options.privateKey} (${kept})\n` +
          `public key:  ${options.publicKey}\n` +
          `key id:      ${keyId(publicKey)}\n`,
      )
    })
}
