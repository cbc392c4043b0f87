import CoreDataSQL
import Testing

@testable import CoreDataPostgreSQLDriver

/// What the answers to a pipeline mean: events in, actions out, without a server.
@Suite struct PipelineQueueTests {
    typealias Kind = PipelineEntry.Kind
    typealias Answer = PipelineQueue.Answer
    typealias Receipt = PipelineQueue.Receipt

    private static func failure(_ kind: SQLFailure.Kind, state: String = "") -> SQLFailure {
        SQLFailure(kind: kind, code: SQLFailure.number(ofState: state), message: "no")
    }

    private static func name(_ outcome: PipelineQueue.Outcome) throws -> String {
        switch outcome {
        case .success: return "success"
        case .failure(let failure): return "failure \(failure.message)"
        case .mismatches(let mismatches):
            for mismatch in mismatches { try mismatch() }
            return "\(mismatches.count) mismatches"
        }
    }

    /// Every kind of entry, and what is done with success, a failure, an entry that was skipped, and the end of a batch.
    @Test(arguments: [
        (Kind.statement, [Receipt.keepResult(countsRows: false), .readFailure, .dropResult, .outOfStep]),
        (.preparation, [.dropResult, .readFailure, .dropResult, .outOfStep]),
        (.schemaCheck, [.dropResult, .readFailure, .dropResult, .outOfStep]),
        (.command, [.dropResult, .readFailure, .dropResult, .outOfStep]),
        (.synchronization, [.outOfStep, .outOfStep, .outOfStep, .dropResult]),
    ])
    func eachKindOfEntryHasItsAnswers(kind: Kind, receipts: [Receipt]) {
        let answers: [Answer] = [.success, .failure, .skipped, .synchronization]
        #expect(answers.count == Answer.allCases.count)
        for (answer, expected) in zip(answers, receipts) {
            var queue = PipelineQueue()
            queue.append(PipelineEntry(kind: kind))
            #expect(queue.receive(answer) == expected, "\(answer)")
            // A failure is read first, and what is out of step is never taken.
            #expect(queue.awaitsAnswer == (expected == .readFailure || expected == .outOfStep), "\(answer)")
        }
    }

    @Test func anAnswerThatNobodyWaitsForIsOutOfStep() {
        var queue = PipelineQueue()
        for answer in Answer.allCases { #expect(queue.receive(answer) == .outOfStep) }
    }

    @Test func entriesAreAnsweredInTheirOrder() throws {
        var queue = PipelineQueue()
        for kind: Kind in [.command, .preparation, .statement, .schemaCheck, .statement, .synchronization] {
            queue.append(PipelineEntry(kind: kind))
        }
        #expect(queue.endsWithSynchronization && queue.awaitsStatement)
        let answers: [Answer] = [.success, .success, .success, .success, .success, .synchronization]
        let kept = Receipt.keepResult(countsRows: false)
        #expect(answers.map { queue.receive($0) } == [.dropResult, .dropResult, kept, .dropResult, kept, .dropResult])
        #expect(!queue.awaitsAnswer)
        #expect(try Self.name(queue.end()) == "success")
        #expect(!queue.endsWithSynchronization && !queue.awaitsStatement)
    }

    /// What is expected, what comes, and whether the rows are counted and another number is told of.
    @Test(arguments: [
        (-1, true, 3, false, false), (1, true, 1, true, false), (1, true, 0, true, true), (0, true, 2, true, true),
        (1, false, 0, false, false),
    ])
    func rowsAreCountedWhereSomebodyMinds(
        expected: Int, hasMismatch: Bool, rows: Int, isCounted: Bool, isTold: Bool
    ) throws {
        for kind: Kind in [.statement, .schemaCheck] {
            var queue = PipelineQueue()
            queue.append(
                PipelineEntry(kind: kind, expectedRowCount: expected, mismatch: hasMismatch ? {} : nil))
            let receipt = queue.receive(.success)
            switch kind {
            case .statement: #expect(receipt == .keepResult(countsRows: isCounted))
            default: #expect(receipt == (isCounted ? .countRows : .dropResult))
            }
            if isCounted { #expect(queue.count(rows) == nil, "nobody observes") }
            #expect(!queue.awaitsAnswer)
            #expect(try Self.name(queue.end()) == (isTold ? "1 mismatches" : "success"))
        }
    }

    @Test func mismatchesAreToldInOrderAndOnce() throws {
        var told: [Int] = []
        var queue = PipelineQueue()
        for number in 1...3 {
            queue.append(PipelineEntry(kind: .statement, expectedRowCount: 1, mismatch: { told.append(number) }))
        }
        for rows in [0, 1, 2] {
            #expect(queue.receive(.success) == .keepResult(countsRows: true))
            #expect(queue.count(rows) == nil)
        }
        #expect(try Self.name(queue.end()) == "2 mismatches")
        #expect(told == [1, 3])
        #expect(try Self.name(queue.end()) == "success")
    }

    @Test func theFirstFailureIsToldAndNothingElse() throws {
        var queue = PipelineQueue()
        queue.append(PipelineEntry(kind: .statement, expectedRowCount: 1, mismatch: { Issue.record("told") }))
        for sql in ["a", "b", "c"] { queue.append(PipelineEntry(kind: .statement, sql: sql)) }
        queue.append(PipelineEntry(kind: .synchronization))
        #expect(queue.receive(.success) == .keepResult(countsRows: true))
        #expect(queue.count(0) == nil)
        #expect(queue.receive(.failure) == .readFailure && queue.failedSQL == "a")
        queue.fail(SQLFailure(kind: .constraint, code: 0, message: "first"))
        #expect(queue.receive(.skipped) == .dropResult)
        // As where the connection ends.
        #expect(queue.receive(.failure) == .readFailure && queue.failedSQL == "c")
        queue.fail(SQLFailure(kind: .disconnected, code: 0, message: "second"))
        #expect(queue.receive(.synchronization) == .dropResult)
        #expect(try Self.name(queue.end()) == "failure first")
        #expect(try Self.name(queue.end()) == "success")
    }

    /// What fails, and what that means: the kind of the failure that is told, and whether the text is sent again.
    @Test(arguments: [
        // A statement by itself says what it is.
        (Kind.statement, false, SQLFailure.Kind.constraint, "23505", SQLFailure.Kind.constraint, NamedText.State.sent),
        (.command, false, .other, "0A000", .other, .sent),
        // One that is run again by itself says it then.
        (.statement, true, .constraint, "23505", .expectation, .sent),
        (.statement, true, .computation, "22012", .expectation, .sent),
        (.statement, true, .other, "0A000", .expectation, .refused),
        // It is not to blame for the moment.
        (.statement, true, .serialization, "40001", .serialization, .sent),
        (.statement, true, .interrupted, "57014", .interrupted, .sent),
        (.schemaCheck, false, .missingTable, "42P01", .missingTable, .sent),
        (.preparation, false, .missingTable, "42P01", .expectation, .unknown),
        (.preparation, false, .other, "0A000", .expectation, .refused),
        (.preparation, false, .disconnected, "57P01", .disconnected, .unknown),
    ])
    func failuresMeanWhatTheEntryIs(
        kind: Kind, failsByItself: Bool, failure: SQLFailure.Kind, code: String, told: SQLFailure.Kind,
        state: NamedText.State
    ) {
        let text = NamedText("text", name: "n")
        text.state = .sent
        var queue = PipelineQueue()
        queue.append(PipelineEntry(kind: kind, failsByItself: failsByItself, sql: "sql", text: text))
        #expect(queue.receive(.failure) == .readFailure)
        #expect(queue.failedSQL == (kind == .preparation ? "text" : "sql"))
        queue.fail(Self.failure(failure, state: code))
        guard case .failure(let found) = queue.end() else {
            Issue.record("no failure")
            return
        }
        #expect(found.kind == told && text.state == state)
    }

    @Test(arguments: [(Answer.success, NamedText.State.prepared), (.skipped, .unknown)])
    func textsArePreparedOrAreSentAgain(answer: Answer, state: NamedText.State) {
        let text = NamedText("text", name: "n")
        text.state = .sent
        var queue = PipelineQueue()
        queue.append(PipelineEntry(kind: .preparation, text: text))
        #expect(queue.receive(answer) == .dropResult && text.state == state)
    }

    @Test func observersHearOfTheirStatements() {
        let observation = StatementObservation(SQLRecorder(), start: .now)
        var queue = PipelineQueue()
        queue.append(PipelineEntry(kind: .statement, sql: "a", observation: observation))
        #expect(queue.receive(.success) == .keepResult(countsRows: true))
        let found = queue.count(2)
        #expect(found?.sql == "a" && found?.observation === observation)
        #expect(!queue.awaitsAnswer)
    }

    @Test func whatIsRolledBackIsNotTold() throws {
        var queue = PipelineQueue()
        for kind: Kind in [.statement, .schemaCheck] {
            queue.append(PipelineEntry(kind: kind, expectedRowCount: 1, mismatch: { Issue.record("told") }))
        }
        queue.ignoreStatements()
        #expect(!queue.awaitsStatement && queue.awaitsMoreThanSynchronization)
        for _ in 0..<2 { #expect(queue.receive(.success) == .dropResult) }
        #expect(try Self.name(queue.end()) == "success")
    }

    @Test func aSessionThatIsGivenUpWaitsForNothing() throws {
        var queue = PipelineQueue()
        for _ in 0..<2 { queue.append(PipelineEntry(kind: .statement)) }
        #expect(queue.receive(.failure) == .readFailure)
        queue.fail(Self.failure(.disconnected))
        queue.abandon()
        #expect(!queue.awaitsAnswer && queue.receive(.success) == .outOfStep)
        #expect(try Self.name(queue.end()) == "success")
    }
}
