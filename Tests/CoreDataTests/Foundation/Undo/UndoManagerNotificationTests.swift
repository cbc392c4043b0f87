import Foundation
import Testing

@testable import CoreData

@Suite struct UndoManagerNotificationTests {
    private typealias Sheet = UndoSheet
    private typealias Log = UndoLog

    @Test func groupsAreAnnounced() {
        let sheet = Sheet()
        let manager = sheet.undoManager
        let log = Log(manager)
        manager.beginUndoGrouping()
        #expect(log.take() == ["opened"])
        manager.beginUndoGrouping()
        #expect(log.take() == ["checkpoint", "opened"])
        sheet.write("a")
        #expect(log.take() == [])
        manager.endUndoGrouping()
        #expect(log.take() == ["checkpoint", "closes", "closed"])
        manager.endUndoGrouping()
        #expect(log.take() == ["checkpoint", "closes", "closed"])
    }

    @Test func theEventsGroupIsAnnounced() {
        let sheet = Sheet(byEvent: true)
        let log = Log(sheet.undoManager)
        sheet.write("a")
        sheet.write("b")
        #expect(log.take() == ["opened"])
        sheet.undoManager.endEvent()
        #expect(log.take() == ["checkpoint", "closes", "closed"])
        sheet.undoManager.beginUndoGrouping()
        #expect(log.take() == ["opened", "checkpoint", "opened"])
    }

    @Test func undoAndRedoAreAnnounced() {
        let sheet = Sheet(byEvent: true)
        let manager = sheet.undoManager
        var states: [String: [Bool]] = [:]
        let log = Log(manager) { states[$0] = [manager.isUndoing, manager.isRedoing] }
        sheet.write("a")
        _ = log.take()
        manager.undo()
        let recorded = ["opened", "checkpoint", "closes", "closed"]
        #expect(
            log.take() == ["checkpoint", "closes", "closed", "checkpoint", "undoes"] + recorded + ["undid"])
        #expect(states["undoes"] == [true, false] && states["undid"] == [false, false])
        manager.redo()
        #expect(log.take() == ["checkpoint", "redoes"] + recorded + ["redid"])
        #expect(states["redoes"] == [false, true] && states["redid"] == [false, false])
        manager.removeAllActions()
        _ = log.take()
        manager.undo()
        manager.redo()
        #expect(log.take() == ["checkpoint", "checkpoint"])
    }

    @Test func whoAsksForRedoCausesACheckpoint() {
        let manager = UndoManager()
        let log = Log(manager)
        _ = manager.canUndo
        #expect(log.take() == [])
        _ = manager.canRedo
        #expect(log.take() == ["checkpoint"])
    }

    @Test func namesAreApples() {
        let names = Log.names.map(\.0.rawValue)
        #expect(
            names == [
                "NSUndoManagerCheckpointNotification", "NSUndoManagerDidOpenUndoGroupNotification",
                "NSUndoManagerWillCloseUndoGroupNotification", "NSUndoManagerDidCloseUndoGroupNotification",
                "NSUndoManagerWillUndoChangeNotification", "NSUndoManagerDidUndoChangeNotification",
                "NSUndoManagerWillRedoChangeNotification", "NSUndoManagerDidRedoChangeNotification",
            ])
        #expect(NSUndoManagerGroupIsDiscardableKey == "NSUndoManagerGroupIsDiscardableKey")
    }

    /// What was held back until a checkpoint, as contexts do it, belongs to the step that ends.
    @Test func whatIsRegisteredAtACheckpointIsInTheStep() {
        let sheet = Sheet(byEvent: true)
        let manager = sheet.undoManager
        var heldBack: [String] = []
        let log = Log(manager) { word in
            guard word == "checkpoint", let text = heldBack.popLast() else { return }
            sheet.write(text)
        }
        sheet.write("a")
        heldBack = ["b"]
        manager.undo()
        #expect(sheet.text == "" && manager.redoCount == 1)
        // Nothing is open: it is the step that undo takes back.
        heldBack = ["c"]
        manager.undo()
        #expect(sheet.undone == ["a", "", ""] && manager.redoCount == 1 && manager.groupingLevel == 0)
        // And it puts an end to redo.
        heldBack = ["d"]
        #expect(!manager.canRedo && sheet.text == "d")
        manager.undo()
        heldBack = ["e"]
        manager.redo()
        #expect(sheet.text == "e" && manager.undoCount == 1 && log.events.last == "closed")
    }

    @Test func whatIsRegisteredAsAnUndoBeginsAndEndsIsRedone() {
        let sheet = Sheet()
        let manager = sheet.undoManager
        var words: Set<String> = ["undoes", "closes"]
        sheet.step("a")
        let log = Log(manager) { word in
            guard words.remove(word) != nil else { return }
            manager.registerUndo(withTarget: sheet) { $0.undone.append(word) }
        }
        manager.undo()
        #expect(manager.redoCount == 1 && !manager.canUndo)
        sheet.undone = []
        manager.redo()
        #expect(sheet.undone == ["closes", "a", "undoes"] || sheet.undone == ["closes", "", "undoes"])
        #expect(log.events.last == "redid")
    }

    @Test func observersMayUndo() {
        let sheet = Sheet(byEvent: true)
        let manager = sheet.undoManager
        var word = "closes"
        let log = Log(manager) {
            guard $0 == word else { return }
            word = ""
            manager.undo()
        }
        sheet.write("a")
        manager.endEvent()
        #expect(sheet.text == "" && manager.groupingLevel == 0 && manager.redoCount == 1)
        sheet.write("b")
        manager.endEvent()
        sheet.write("c")
        word = "undid"
        manager.undo()
        #expect(sheet.text == "" && manager.redoCount == 2 && log.events.last == "undid")
    }

    @Test func observersMayForgetEverything() {
        for (_, word) in Log.names {
            let sheet = Sheet(byEvent: true)
            let manager = sheet.undoManager
            var isOn = false
            let log = Log(manager) { if isOn, $0 == word { manager.removeAllActions() } }
            sheet.write("a")
            manager.endEvent()
            sheet.write("b")
            isOn = true
            manager.undo()
            manager.redo()
            isOn = false
            #expect(manager.groupingLevel == 0 && !manager.isUndoing && !manager.isRedoing)
            manager.removeAllActions()
            sheet.write("c")
            let before = sheet.text
            manager.undo()
            #expect(before == "c" && manager.redoCount == 1 && !log.events.isEmpty)
        }
    }
}
