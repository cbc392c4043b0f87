import Foundation
import Testing

@testable import CoreData

@Suite struct UndoManagerEventTests {
    private typealias Sheet = UndoSheet

    @Test func withoutARunLoopUndoEndsTheStep() {
        let sheet = Sheet(byEvent: true)
        sheet.write("a")
        sheet.write("b")
        #expect(sheet.undoManager.groupingLevel == 1 && sheet.undoManager.undoCount == 1)
        sheet.undoManager.undo()
        #expect(sheet.text == "" && sheet.undoManager.groupingLevel == 0)
        sheet.undoManager.redo()
        #expect(sheet.text == "b")
    }

    @Test func groupsAreInsideTheEvents() {
        let sheet = Sheet(byEvent: true)
        sheet.undoManager.beginUndoGrouping()
        #expect(sheet.undoManager.groupingLevel == 2)
        sheet.write("a")
        sheet.undoManager.endUndoGrouping()
        #expect(sheet.undoManager.groupingLevel == 1)
        sheet.step("b")
        #expect(sheet.undoManager.undoCount == 1)
        sheet.undoManager.endUndoGrouping()
        #expect(sheet.undoManager.groupingLevel == 0 && sheet.undoManager.undoCount == 1)
    }

    /// Runs the blocks in turns of a run loop of their own, one a turn.
    private static func turns(_ blocks: [() -> Void]) {
        nonisolated(unsafe) var rest = blocks[...]
        let finished = DispatchSemaphore(value: 0)
        let thread = Thread {
            let timer = Timer(timeInterval: 0.01, repeats: true) { timer in
                if let block = rest.popFirst() { block() } else { timer.invalidate() }
            }
            RunLoop.current.add(timer, forMode: .default)
            let end = Date(timeIntervalSinceNow: 20)
            while timer.isValid, Date() < end { RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.05)) }
            finished.signal()
        }
        thread.start()
        finished.wait()
        #expect(rest.isEmpty)
    }

    @Test func aTurnOfTheRunLoopIsAStep() {
        let sheet = Sheet(byEvent: true)
        let manager = sheet.undoManager
        var levels: [Int] = []
        Self.turns([
            {
                sheet.write("a")
                sheet.write("b")
                levels.append(manager.groupingLevel)
            },
            {
                levels.append(manager.groupingLevel)
                sheet.write("c")
            },
            { levels.append(manager.groupingLevel) },
        ])
        #expect(levels == [1, 0, 0] && manager.undoCount == 2)
        manager.undo()
        #expect(sheet.text == "b")
        manager.undo()
        #expect(sheet.text == "")
    }

    /// The loop of a thread may never run, so it is asked only while it does.
    @Test func whatBeganBeforeTheRunLoopEndsWithTheTurnThatAdds() {
        let sheet = Sheet(byEvent: true)
        sheet.write("a")
        var levels: [Int] = []
        Self.turns([
            {
                levels.append(sheet.undoManager.groupingLevel)
                sheet.write("b")
            },
            { levels.append(sheet.undoManager.groupingLevel) },
        ])
        #expect(levels == [1, 0] && sheet.undoManager.undoCount == 1)
    }

    @Test func undoAndMoreInTheSameTurnAreStepsOfTheirOwn() {
        let sheet = Sheet(byEvent: true)
        let manager = sheet.undoManager
        Self.turns([
            {
                sheet.write("a")
                manager.undo()
                sheet.write("b")
                manager.undo()
                manager.redo()
                sheet.write("c")
            }, {},
        ])
        #expect(manager.groupingLevel == 0 && manager.undoCount == 2 && sheet.text == "c")
    }

    @Test func aGroupThatLastsLongerThanItsTurnStaysOpen() {
        let sheet = Sheet(byEvent: true)
        let manager = sheet.undoManager
        var levels: [Int] = []
        Self.turns([
            {
                manager.beginUndoGrouping()
                sheet.write("a")
            },
            {
                levels.append(manager.groupingLevel)
                sheet.write("b")
                manager.endUndoGrouping()
            },
            { levels.append(manager.groupingLevel) },
        ])
        #expect(levels == [2, 0] && manager.undoCount == 1)
        manager.undo()
        #expect(sheet.text == "")
    }

    @Test func otherModesDoNotEndAnEvent() {
        let sheet = Sheet(byEvent: true)
        sheet.undoManager.runLoopModes = [RunLoop.Mode("UndoManagerTests")]
        Self.turns([{ sheet.write("a") }, {}])
        #expect(sheet.undoManager.groupingLevel == 1)
    }

    @Test func withoutEventsNothingClosesByItself() {
        let sheet = Sheet()
        Self.turns([{ sheet.undoManager.beginUndoGrouping() }, {}])
        #expect(sheet.undoManager.groupingLevel == 1)
    }

    @Test func anUndoManagerCanGoBeforeTheTurnEnds() {
        weak var gone: UndoManager?
        Self.turns([
            {
                let sheet = Sheet(byEvent: true)
                gone = sheet.undoManager
                sheet.write("a")
            }, {},
        ])
        #expect(gone == nil)
    }
}
