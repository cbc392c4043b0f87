import Foundation
import Testing

@testable import CoreData

@Suite struct UndoManagerTests {
    private typealias Sheet = UndoSheet

    // MARK: Undo and redo

    @Test func undoAndRedoRestoreTheStatesInBetween() {
        let sheet = Sheet()
        for text in ["a", "b", "c"] { sheet.step(text) }
        sheet.undoManager.undo()
        #expect(sheet.text == "b")
        sheet.undoManager.undo()
        #expect(sheet.text == "a" && sheet.undoManager.undoCount == 1 && sheet.undoManager.redoCount == 2)
        sheet.undoManager.redo()
        sheet.undoManager.redo()
        #expect(sheet.text == "c" && !sheet.undoManager.canRedo && sheet.undoManager.undoCount == 3)
        for _ in 0..<4 { sheet.undoManager.undo() }
        #expect(sheet.text == "" && !sheet.undoManager.canUndo && sheet.undoManager.canRedo)
    }

    @Test func aNewUndoManagerHasNothing() {
        let manager = UndoManager()
        #expect(manager.groupsByEvent && manager.isUndoRegistrationEnabled && manager.levelsOfUndo == 0)
        #expect(manager.runLoopModes == [.default] && manager.groupingLevel == 0)
        #expect(!manager.canUndo && !manager.canRedo && manager.undoCount == 0 && manager.redoCount == 0)
        #expect(!manager.isUndoing && !manager.isRedoing)
        #expect(manager.undoActionName == "" && manager.undoMenuItemTitle == "Undo")
        #expect(manager.redoActionName == "" && manager.redoMenuItemTitle == "Redo")
        #expect(!manager.undoActionIsDiscardable && !manager.redoActionIsDiscardable)
        manager.undo()
        manager.redo()
        manager.undoNestedGroup()
        #expect(!manager.canUndo && !manager.canRedo && NSUndoCloseGroupingRunLoopOrdering == 350_000)
    }

    @Test func handlersOfAGroupRunNewestFirst() {
        let sheet = Sheet()
        sheet.undoManager.beginUndoGrouping()
        for text in ["a", "b"] { sheet.write(text) }
        sheet.undoManager.beginUndoGrouping()
        for text in ["c", "d"] { sheet.write(text) }
        sheet.undoManager.endUndoGrouping()
        sheet.write("e")
        sheet.undoManager.endUndoGrouping()
        sheet.undoManager.undo()
        #expect(sheet.undone == ["d", "c", "b", "a", ""] && sheet.text == "")
        #expect(sheet.undoManager.redoCount == 1)
        sheet.undoManager.redo()
        #expect(sheet.text == "e" && sheet.undoManager.undoCount == 1 && sheet.undoManager.redoCount == 0)
    }

    @Test func handlersKnowWhatTheyAreCalledFor() {
        let manager = UndoManager()
        let target = NSObject()
        var seen: [[Bool]] = []
        func register() {
            manager.registerUndo(withTarget: target) { _ in
                seen.append([manager.isUndoing, manager.isRedoing])
                register()
            }
        }
        register()
        withExtendedLifetime(target) {
            manager.undo()
            manager.redo()
        }
        #expect(seen == [[true, false], [false, true]] && !manager.isUndoing && !manager.isRedoing)
    }

    @Test func aNewActionPutsAnEndToRedo() {
        let sheet = Sheet()
        sheet.step("a")
        sheet.step("b")
        sheet.undoManager.undo()
        sheet.step("c")
        #expect(!sheet.undoManager.canRedo && sheet.undoManager.redoCount == 0)
        sheet.undoManager.redo()
        #expect(sheet.text == "c")
    }

    @Test func anEmptyGroupLeavesRedoAlone() {
        let sheet = Sheet()
        sheet.step("a")
        sheet.undoManager.undo()
        sheet.undoManager.beginUndoGrouping()
        sheet.undoManager.endUndoGrouping()
        #expect(sheet.undoManager.canRedo && !sheet.undoManager.canUndo)
    }

    @Test func whatRegistersNothingCannotBeRedone() {
        let manager = UndoManager()
        let target = NSObject()
        var calls = 0
        manager.registerUndo(withTarget: target) { _ in calls += 1 }
        withExtendedLifetime(target) { manager.undo() }
        #expect(calls == 1 && !manager.canRedo && !manager.canUndo)
    }

    // MARK: Groups

    @Test func emptyGroupsAreNoSteps() {
        let manager = UndoManager()
        manager.groupsByEvent = false
        manager.beginUndoGrouping()
        manager.beginUndoGrouping()
        #expect(manager.groupingLevel == 2 && !manager.canUndo && manager.undoCount == 0)
        manager.endUndoGrouping()
        manager.endUndoGrouping()
        #expect(manager.groupingLevel == 0 && !manager.canUndo)
    }

    @Test func anOpenGroupCountsAsAStep() {
        let sheet = Sheet()
        sheet.step("a")
        sheet.undoManager.beginUndoGrouping()
        sheet.write("b")
        #expect(sheet.undoManager.canUndo && sheet.undoManager.undoCount == 2)
        sheet.undoManager.undo()
        #expect(sheet.text == "a" && sheet.undoManager.groupingLevel == 0)
    }

    @Test func aNestedGroupIsUndoneAlone() {
        let sheet = Sheet()
        let manager = sheet.undoManager
        manager.beginUndoGrouping()
        sheet.step("a")
        sheet.step("b", name: "inner")
        manager.undoNestedGroup()
        #expect(sheet.text == "a" && manager.groupingLevel == 1 && manager.redoCount == 1)
        #expect(manager.redoActionName == "inner")
        manager.redo()
        #expect(sheet.text == "b" && manager.groupingLevel == 1 && manager.redoCount == 0)
        manager.undoNestedGroup()
        manager.undoNestedGroup()
        #expect(sheet.text == "" && !manager.canUndo && manager.redoCount == 2)
        manager.endUndoGrouping()
        #expect(!manager.canUndo && manager.redoCount == 2)
    }

    @Test func handlersNestGroups() {
        let sheet = Sheet()
        let manager = sheet.undoManager
        var levels: [Int] = []
        manager.beginUndoGrouping()
        manager.registerUndo(withTarget: sheet) { sheet in
            levels.append(manager.groupingLevel)
            sheet.step("inner")
            manager.beginUndoGrouping()
            levels.append(manager.groupingLevel)
            sheet.write("left open")
        }
        manager.undo()
        #expect(levels == [1, 2] && manager.groupingLevel == 0 && manager.redoCount == 1)
        manager.redo()
        #expect(sheet.undone == ["inner", ""] && manager.undoCount == 1)
    }

    @Test func onlyTheNewestStepsAreKept() {
        let sheet = Sheet()
        let manager = sheet.undoManager
        manager.levelsOfUndo = 3
        for text in ["a", "b", "c", "d", "e"] { sheet.step(text) }
        #expect(manager.undoCount == 3)
        manager.levelsOfUndo = 2
        #expect(manager.undoCount == 2)
        for _ in 0..<5 { manager.undo() }
        #expect(sheet.text == "c" && manager.redoCount == 2)
        manager.levelsOfUndo = 1
        manager.redo()
        #expect(manager.redoCount == 0)
        manager.levelsOfUndo = 0
        for text in ["a", "b", "c", "d", "e"] { sheet.step(text) }
        #expect(manager.undoCount == 6)
    }

    @Test func nestedGroupsAreNoLevels() {
        let sheet = Sheet()
        sheet.undoManager.levelsOfUndo = 1
        sheet.undoManager.beginUndoGrouping()
        for text in ["a", "b", "c"] { sheet.step(text) }
        sheet.undoManager.endUndoGrouping()
        sheet.undoManager.undo()
        #expect(sheet.text == "")
    }

    // MARK: Programmers' errors

    @Test func endingWithoutBeginningIsRefused() async {
        await #expect(processExitsWith: .failure) { UndoManager().endUndoGrouping() }
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.registerUndo(withTarget: manager) { $0.endUndoGrouping() }
            manager.undo()
        }
    }

    @Test func undoInANestedGroupIsRefused() async {
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.groupsByEvent = false
            manager.beginUndoGrouping()
            manager.beginUndoGrouping()
            manager.undo()
        }
    }

    @Test func undoOfANestedGroupThatIsOpenIsRefused() async {
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.registerUndo(withTarget: manager) { _ in }
            manager.undoNestedGroup()
        }
    }

    @Test func enablingWithoutDisablingIsRefused() async {
        await #expect(processExitsWith: .failure) { UndoManager().enableUndoRegistration() }
    }

    @Test func registeringOutsideGroupsIsRefusedWithoutEvents() async {
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.groupsByEvent = false
            manager.registerUndo(withTarget: manager) { _ in }
        }
    }

    @Test func undoAndRedoInHandlersAreRefused() async {
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.registerUndo(withTarget: manager) { $0.undo() }
            manager.undo()
        }
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.registerUndo(withTarget: manager) { $0.redo() }
            manager.undo()
        }
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.registerUndo(withTarget: manager) { manager in
                manager.registerUndo(withTarget: manager) { $0.undoNestedGroup() }
            }
            manager.undo()
            manager.redo()
        }
    }
}
