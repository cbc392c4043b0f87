import Foundation
import Testing

@testable import CoreData

@Suite struct UndoManagerRegistrationTests {
    private typealias Sheet = UndoSheet

    @Test func nothingIsRegisteredWhileRegistrationIsOff() {
        let sheet = Sheet(byEvent: true)
        let manager = sheet.undoManager
        sheet.write("a")
        manager.undo()
        manager.disableUndoRegistration()
        manager.disableUndoRegistration()
        manager.enableUndoRegistration()
        #expect(!manager.isUndoRegistrationEnabled)
        sheet.write("b")
        manager.setActionName("b")
        manager.setActionUserInfoValue(1, forKey: .page)
        manager.setActionIsDiscardable(true)
        #expect(!manager.canUndo && manager.canRedo && manager.groupingLevel == 0)
        manager.enableUndoRegistration()
        #expect(manager.isUndoRegistrationEnabled)
        sheet.write("c")
        #expect(manager.canUndo && !manager.canRedo)
    }

    @Test func aTargetIsNotKept() {
        let manager = UndoManager()
        var calls = 0
        weak var gone: NSObject?
        do {
            let target = NSObject()
            gone = target
            manager.registerUndo(withTarget: target) { _ in calls += 1 }
        }
        #expect(gone == nil && manager.canUndo)
        manager.undo()
        #expect(calls == 0 && !manager.canUndo && !manager.canRedo)
    }

    /// Goes by taking its actions out, as Apple asks of targets.
    private final class Leaver {
        let manager: UndoManager
        var calls: () -> Void = {}

        init(_ manager: UndoManager) {
            self.manager = manager
            manager.registerUndo(withTarget: self) { $0.calls() }
        }

        deinit { manager.removeAllActions(withTarget: self) }
    }

    @Test func aTargetRemovesItsActionsAsItGoes() {
        let manager = UndoManager()
        do { _ = Leaver(manager) }
        #expect(!manager.canUndo)
    }

    @Test func whatGoesWithAStepMayCallTheUndoManager() {
        let manager = UndoManager()
        manager.groupsByEvent = false
        let target = NSObject()
        /// A step whose handler alone keeps a target that removes its actions as it goes.
        func step() {
            manager.beginUndoGrouping()
            let leaver = Leaver(manager)
            manager.registerUndo(withTarget: target) { _ in withExtendedLifetime(leaver) {} }
            manager.endUndoGrouping()
        }
        step()
        manager.removeAllActions(withTarget: target)
        #expect(!manager.canUndo)
        step()
        manager.removeAllActions()
        manager.levelsOfUndo = 1
        for _ in 0..<3 { step() }
        #expect(manager.undoCount == 1)
        manager.undo()
        manager.beginUndoGrouping()
        manager.registerUndo(withTarget: target) { _ in
            let leaver = Leaver(manager)
            manager.registerUndo(withTarget: target) { _ in withExtendedLifetime(leaver) {} }
        }
        manager.undo()
        #expect(manager.redoCount == 1)
        step()
        #expect(manager.redoCount == 0 && manager.undoCount == 1)
    }

    @Test func actionsOfATargetAreRemovedEverywhere() {
        let manager = UndoManager()
        manager.groupsByEvent = false
        let targets = (0..<200).map { _ in NSObject() }
        var calls: [Int] = []
        for (index, target) in targets.enumerated() {
            manager.beginUndoGrouping()
            manager.beginUndoGrouping()
            manager.registerUndo(withTarget: target) { _ in calls.append(index) }
            manager.endUndoGrouping()
            if index % 2 == 0 { manager.registerUndo(withTarget: targets[0]) { _ in calls.append(-index) } }
            manager.endUndoGrouping()
        }
        for index in 1..<200 { manager.removeAllActions(withTarget: targets[index]) }
        #expect(manager.undoCount == 100)
        manager.beginUndoGrouping()
        manager.registerUndo(withTarget: targets[0]) { _ in calls.append(1000) }
        manager.registerUndo(withTarget: targets[1]) { _ in calls.append(1001) }
        manager.removeAllActions(withTarget: targets[0])
        #expect(manager.undoCount == 1 && manager.groupingLevel == 1)
        withExtendedLifetime(targets) { manager.undo() }
        #expect(calls == [1001] && !manager.canUndo)
    }

    @Test func redoStepsOfATargetAreRemovedToo() {
        let sheet = Sheet()
        sheet.step("a")
        sheet.step("b")
        sheet.undoManager.undo()
        sheet.undoManager.disableUndoRegistration()
        sheet.undoManager.removeAllActions(withTarget: NSObject())
        #expect(sheet.undoManager.canRedo && sheet.undoManager.canUndo)
        sheet.undoManager.removeAllActions(withTarget: sheet)
        #expect(!sheet.undoManager.canRedo && !sheet.undoManager.canUndo)
        #expect(!sheet.undoManager.isUndoRegistrationEnabled)
    }

    @Test func everythingCanBeForgotten() {
        let sheet = Sheet(byEvent: true)
        let manager = sheet.undoManager
        sheet.write("a")
        manager.undo()
        sheet.write("b")
        manager.beginUndoGrouping()
        manager.disableUndoRegistration()
        manager.removeAllActions()
        #expect(!manager.canUndo && !manager.canRedo && manager.groupingLevel == 0)
        #expect(manager.isUndoRegistrationEnabled)
        sheet.write("c")
        manager.undo()
        #expect(sheet.text == "b")
    }

    @Test func removalInAHandlerStopsWhatIsLeft() {
        for removesAll in [true, false] {
            let sheet = Sheet()
            let manager = sheet.undoManager
            sheet.step("before")
            manager.beginUndoGrouping()
            sheet.write("never undone")
            manager.beginUndoGrouping()
            sheet.write("never undone either")
            let other = NSObject()
            manager.registerUndo(withTarget: other) { _ in
                if removesAll { manager.removeAllActions() } else { manager.removeAllActions(withTarget: sheet) }
                manager.registerUndo(withTarget: other) { _ in sheet.text = "redone" }
            }
            manager.endUndoGrouping()
            manager.undo()
            #expect(sheet.undone == [] && !manager.canUndo && manager.redoCount == 1 && manager.groupingLevel == 0)
            manager.redo()
            #expect(sheet.text == "redone")
        }
    }

    @Test func removalInAHandlerForgetsOpenGroups() {
        let sheet = Sheet()
        let manager = sheet.undoManager
        manager.beginUndoGrouping()
        sheet.write("a")
        manager.beginUndoGrouping()
        manager.registerUndo(withTarget: sheet) { _ in manager.removeAllActions() }
        manager.endUndoGrouping()
        manager.undoNestedGroup()
        #expect(manager.groupingLevel == 0 && !manager.canUndo && !manager.canRedo)
    }

    @Test func aContextRegistersItsEvents() {
        let sheet = Sheet()
        let manager = sheet.undoManager
        manager.registerEvent(of: sheet) { $0.text = "undone" }
        #expect(manager.undoCount == 1 && manager.groupingLevel == 0)
        manager.beginUndoGrouping()
        for _ in 0..<2 { manager.registerEvent(of: sheet) { _ in } }
        manager.endUndoGrouping()
        #expect(manager.undoCount == 2)
        manager.groupsByEvent = true
        manager.followsRunLoop = false
        for _ in 0..<2 {
            for _ in 0..<2 { manager.registerEvent(of: sheet) { _ in } }
            #expect(manager.groupingLevel == 1)
            manager.endEvent()
            manager.endEvent()
        }
        #expect(manager.undoCount == 4 && manager.groupingLevel == 0)
        manager.beginUndoGrouping()
        manager.endEvent()
        #expect(manager.groupingLevel == 2)
    }
}
