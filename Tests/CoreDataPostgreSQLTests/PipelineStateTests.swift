import CoreDataSQL
import Testing

@testable import CoreDataPostgreSQLDriver

/// What a session sends next: events in, steps out, without a server.
@Suite struct PipelineStateTests {
    typealias Purpose = PipelineState.Purpose
    typealias Step = PipelineState.Step
    typealias Note = TransactionState.Note

    enum Event {
        case begin(commitsAtOnce: Bool = false)
        case runsInAnyOrder
        case note(Int64)
        /// A statement joins those that wait.
        case hold(values: Int)
        case send(PipelineEntry.Kind)
        /// The session waits, and everything succeeds.
        case wait
        /// COMMIT is sent, for whose answer nobody waits.
        case endReading
        case expectSchema(Int64)
    }

    /// A session whose server answers everything with success.
    struct Session {
        var state = PipelineState()
        var keepsSessions = true

        /// The steps before something is sent, each of them done.
        mutating func steps(before purpose: Purpose) -> [Step] {
            var steps: [Step] = []
            // None comes more often.
            while steps.count < 8 {
                let step = state.nextStep(before: purpose, keepsSessions: keepsSessions)
                steps.append(step)
                switch step {
                case .send: return steps
                case .begin:
                    state.queue.append(PipelineEntry(kind: .command))
                    state.transaction.didBegin()
                case .sendHeld: state.didSendHeld()
                case .takeAnswers: takeAnswers()
                case .sendNote, .settleCancellation: break
                }
            }
            return steps
        }

        mutating func takeAnswers() {
            while state.queue.awaitsAnswer {
                if state.queue.receive(.success) == .outOfStep, state.queue.receive(.synchronization) != .dropResult {
                    break
                }
            }
            _ = state.endAnswers(leavesFailedTransaction: false)
        }

        mutating func run(_ events: [Event]) {
            for event in events {
                switch event {
                case .begin(let commitsAtOnce): state.begin("BEGIN", commitsAtOnce: commitsAtOnce)
                case .runsInAnyOrder: state.transaction.runsInAnyOrder = true
                case .note(let number): state.transaction.add(Note(writer: 1, number: number))
                case .hold(let values): state.didHold(valueCount: values)
                case .send(let kind):
                    _ = steps(before: .statement)
                    state.queue.append(PipelineEntry(kind: kind))
                case .wait:
                    state.willWait()
                    state.queue.append(PipelineEntry(kind: .synchronization))
                    takeAnswers()
                case .endReading:
                    #expect(state.transaction.endReading() == true)
                    _ = steps(before: .command)
                    state.queue.append(PipelineEntry(kind: .command))
                    state.queue.append(PipelineEntry(kind: .synchronization))
                case .expectSchema(let version): _ = state.expectSchema(version) {}
                }
            }
        }
    }

    /// What has happened, what is to be sent, and the steps before; where a pooler gives sessions to others, too.
    @Test(arguments: [
        ([Event](), Purpose.statement, [Step.send], [Step.send]),
        // A transaction begins with what is sent first, and what belongs to none does not begin it.
        ([.begin()], .statement, [.begin("BEGIN"), .send], [.begin("BEGIN"), .send]),
        ([.begin()], .command, [.send], [.send]),
        ([.begin(), .send(.statement)], .statement, [.send], [.send]),
        // The note comes with its own BEGIN, as the first statement.
        (
            [.begin(), .note(2)], .statement, [.sendNote(Note(writer: 1, number: 2)), .begin("BEGIN"), .send],
            [.sendNote(Note(writer: 1, number: 2)), .begin("BEGIN"), .send]
        ),
        // Statements that wait go before all that does not wait with them.
        (
            [.begin(), .hold(values: 1)], .statement, [.begin("BEGIN"), .sendHeld, .send],
            [.begin("BEGIN"), .sendHeld, .send]
        ),
        ([.begin(), .send(.statement), .hold(values: 1)], .waitingStatement, [.send], [.send]),
        ([.begin(), .send(.statement), .hold(values: 1)], .command, [.sendHeld, .send], [.sendHeld, .send]),
        // The end of the last transaction is waited for where another client may have the session by then.
        (
            [.begin(), .send(.statement), .wait, .endReading, .begin()], .statement, [.begin("BEGIN"), .send],
            [.takeAnswers, .begin("BEGIN"), .send]
        ),
        ([.begin(), .send(.statement), .wait, .endReading], .command, [.send], [.send]),
    ])
    func stepsBeforeSomethingIsSent(events: [Event], purpose: Purpose, steps: [Step], pooled: [Step]) {
        for (keepsSessions, expected) in [(true, steps), (false, pooled)] {
            var session = Session(keepsSessions: keepsSessions)
            session.run(events)
            #expect(session.steps(before: purpose) == expected, "\(keepsSessions)")
            #expect(session.steps(before: purpose) == [.send], "the steps are done")
        }
    }

    /// A request to cancel that was made during a wait is settled before anything else is sent: also before COMMIT and ROLLBACK.
    @Test(arguments: Purpose.allCases, [true, false])
    func behindEachWaitARequestToCancelIsSettledFirst(purpose: Purpose, keepsSessions: Bool) {
        var session = Session(keepsSessions: keepsSessions)
        session.run([.begin(), .send(.statement), .wait])
        #expect(session.steps(before: purpose) == [.settleCancellation, .send])
        #expect(session.steps(before: purpose) == [.send], "once a wait")
        session.run([.wait, .begin(), .note(2), .hold(values: 1)])
        #expect(session.steps(before: purpose).first == .settleCancellation)
    }

    /// How many statements wait, with how many values each, and what becomes of one more.
    @Test(arguments: [
        (0, 0, 3, nil, PipelineState.Holding.join), (7, 3, 3, 1, .join), (8, 3, 3, 1, .joinAfterSending),
        (2, 100, 56, nil, .join), (2, 100, 57, nil, .joinAfterSending), (0, 0, 256, 1, .join),
        (0, 0, 257, 1, .none), (0, 0, 1, 2, .none), (0, 0, 1, 0, .none),
    ])
    func statementsWaitForOthers(
        waiting: Int, values: Int, more: Int, expecting: Int?, expected: PipelineState.Holding
    ) {
        var session = Session()
        session.run([.begin(commitsAtOnce: true), .runsInAnyOrder])
        for _ in 0..<waiting { session.run([.hold(values: values)]) }
        #expect(session.state.holding(valueCount: more, expecting: expecting) == expected)
        session.state.didSendHeld()
        #expect(session.state.holding(valueCount: 1, expecting: nil) == .join)
    }

    @Test func statementsWaitOnlyWhereTheyMay() {
        for (commitsAtOnce, runsInAnyOrder) in [(true, false), (false, true), (false, false)] {
            var session = Session()
            session.run([.begin(commitsAtOnce: commitsAtOnce)] + (runsInAnyOrder ? [.runsInAnyOrder] : []))
            #expect(session.state.holding(valueCount: 1, expecting: 1) == .none)
        }
    }

    /// What has happened, and what is missing until the outcome is known: the server has numbers for transactions, or none.
    @Test(arguments: [
        ([Event](), PipelineState.Settling.nothing, PipelineState.Settling.nothing),
        ([.begin(), .send(.statement)], .takeToken, .takeAnswers),
        ([.begin(), .note(2), .send(.statement)], .takeAnswers, .takeAnswers),
        ([.begin(), .note(2), .send(.statement), .wait], .nothing, .nothing),
        ([.begin(commitsAtOnce: true), .send(.statement)], .nothing, .nothing),
        ([.begin()], .nothing, .nothing),
    ])
    func whatIsMissingUntilTheOutcomeIsKnown(
        events: [Event], numbered: PipelineState.Settling, unnumbered: PipelineState.Settling
    ) {
        for (tellsTransactions, expected) in [(true, numbered), (false, unnumbered)] {
            // Nobody asks later what became of a transaction that only read.
            var reader = Session()
            reader.run(events)
            #expect(reader.state.settling(tellsTransactions: tellsTransactions) != .takeToken)
            var writer = Session()
            for event in events {
                if case .begin(let commitsAtOnce) = event {
                    writer.state.begin(ServerText.beginWriting, commitsAtOnce: commitsAtOnce)
                } else {
                    writer.run([event])
                }
            }
            #expect(writer.state.settling(tellsTransactions: tellsTransactions) == expected)
        }
    }

    // MARK: The schema

    private static func name(_ expectation: SchemaCheck.Expectation) -> String {
        switch expectation {
        case .sendNote(let note): "note \(note.number)"
        case .later: "later"
        case .now: "now"
        }
    }

    @Test func theSchemaIsCheckedByTheNoteBehindWhatIsReadOrByItself() {
        var session = Session()
        #expect(Self.name(session.state.expectSchema(1) {}) == "now")
        session.state.schemaCheck = .awaited
        #expect(Self.name(session.state.expectSchema(1) {}) == "later")
        guard case .pending(1, _) = session.state.schemaCheck else {
            Issue.record("nothing is checked")
            return
        }
        #expect(session.state.settling(tellsTransactions: true) == .checkSchema)
        #expect(Self.name(session.state.expectSchema(2) {}) == "now", "the one before is still to be checked")
        session.run([.begin(), .note(4)])
        #expect(Self.name(session.state.expectSchema(1) {}) == "note 4")
        #expect(Self.name(session.state.expectSchema(1) {}) == "now")
    }

    @Test func aTransactionBeginsWithoutACheck() {
        var session = Session()
        session.state.schemaCheck = .awaited
        session.run([.begin()])
        guard case .none = session.state.schemaCheck else {
            Issue.record("the last reader's check is left")
            return
        }
    }

    // MARK: The end

    private static let failure = SQLFailure(kind: .timedOut, code: 0, message: "cancelled")

    /// Whether the session is in a transaction, whether the server's has failed, and whether the session is of use after a failure.
    @Test(arguments: [(true, true, false), (true, false, false), (false, true, true), (false, false, false)])
    func aCommitThatFailedWithoutAWitnessCostsTheSession(isOpen: Bool, hasFailed: Bool, isBroken: Bool) {
        var session = Session()
        if isOpen { session.run([.begin(), .send(.command), .wait]) }
        session.state.queue.append(PipelineEntry(kind: .command))
        #expect(session.state.queue.receive(.failure) == .readFailure)
        session.state.queue.fail(Self.failure)
        guard case .failure = session.state.endAnswers(leavesFailedTransaction: hasFailed) else {
            Issue.record("no failure")
            return
        }
        #expect(session.state.isBroken == isBroken)
    }

    @Test func whatIsRolledBackIsSentOnlyWhereTheServerHasIt() {
        var session = Session()
        #expect(session.state.rollBack() == false)
        session.run([.begin(), .hold(values: 1)])
        #expect(session.state.rollBack() == false)
        #expect(session.steps(before: .statement) == [.send], "neither BEGIN nor what waited")
        session.run([.begin(), .send(.statement)])
        #expect(session.state.rollBack() == true)
        #expect(!session.state.queue.awaitsStatement)
        session.run([.begin(), .send(.statement)])
        session.state.abandon()
        #expect(session.state.isBroken && session.state.rollBack() == false)
    }
}
