import CoreDataAccounts
import Foundation

/// Delivers messages through a command, which gets each on its standard input.
///
///     MailCommand("/usr/sbin/sendmail -t -i", text: text)
///
/// The shell runs the command with `MAIL_TO` and `MAIL_FROM` in its environment, for programs that do not read the
/// recipient from the message. The token is in the message alone, since other users of the machine see arguments.
package struct MailCommand: LinkDelivery {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let command: String
    private let text: MailText
    private let patience: Duration

    /// - Parameter patience: the time after which the command is ended, and the delivery fails.
    package init(_ command: String, text: MailText, patience: Duration = .seconds(30)) {
        self.command = command
        self.text = text
        self.patience = patience
    }

    package func deliver(_ message: AccountMessage) async throws {
        let run = ShellRun(
            command, input: Data(text.text(message).utf8),
            environment: ["MAIL_TO": message.email, "MAIL_FROM": text.sender])
        let patience = patience
        let limit = Task {
            try await Task.sleep(for: patience)
            run.end()
        }
        defer { limit.cancel() }
        let status = try await run.status()
        guard status == 0 else { throw Failure(description: "the command for mail ended with the status \(status)") }
    }
}

/// One run of a command by the shell.
private final class ShellRun: @unchecked Sendable {
    // Safe because its parts are set once, and a process may be ended on any thread.
    private let process = Process()
    private let input = Pipe()
    private let data: Data

    init(_ command: String, input data: Data, environment: [String: String]) {
        self.data = data
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, own in own }
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        // What the command says about a failure is for the operator; it does not know the token but from its input.
        process.standardError = FileHandle.standardError
    }

    func end() { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// Runs the command to its end.
    func status() async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            WorkerThreads.shared.run { [self] in
                continuation.resume(
                    with: Result {
                        // A program inherits which signals its parent's thread holds back.
                        var (none, before) = (sigset_t(), sigset_t())
                        sigemptyset(&none)
                        pthread_sigmask(SIG_SETMASK, &none, &before)
                        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
                        try process.run()
                        // A command that does not read its input must not end the service.
                        signal(SIGPIPE, SIG_IGN)
                        try? input.fileHandleForWriting.write(contentsOf: data)
                        try? input.fileHandleForWriting.close()
                        process.waitUntilExit()
                        return process.terminationStatus
                    })
            }
        }
    }
}
