import Foundation
import Testing

@testable import CoreData

@Suite struct UndoManagerNameTests {
    private typealias Sheet = UndoSheet
    private typealias Log = UndoLog

    @Test func aNameGoesWithItsStep() {
        let sheet = Sheet()
        let manager = sheet.undoManager
        sheet.step("a", name: "Write")
        sheet.step("b", name: "Overwrite")
        #expect(manager.undoActionName == "Overwrite" && manager.undoMenuItemTitle == "Undo Overwrite")
        manager.undo()
        #expect(manager.undoActionName == "Write" && manager.redoActionName == "Overwrite")
        #expect(manager.redoMenuItemTitle == "Redo Overwrite")
        manager.undo()
        #expect(manager.undoMenuItemTitle == "Undo" && manager.redoMenuItemTitle == "Redo Write")
        manager.redo()
        #expect(manager.undoActionName == "Write")
        manager.setActionName("Scribble")
        #expect(manager.undoActionName == "Scribble")
        manager.setActionName("")
        #expect(manager.undoActionName == "" && manager.undoMenuItemTitle == "Undo")
    }

    @Test func theLastNameSetInANestedGroupNamesTheStep() {
        let sheet = Sheet()
        let manager = sheet.undoManager
        manager.beginUndoGrouping()
        manager.setActionName("outer")
        sheet.step("a", name: "inner")
        #expect(manager.undoActionName == "inner")
        manager.endUndoGrouping()
        #expect(manager.undoActionName == "inner")
        manager.beginUndoGrouping()
        sheet.step("b", name: "inner")
        manager.setActionName("outer")
        manager.endUndoGrouping()
        #expect(manager.undoActionName == "outer")
    }

    @Test func aNameMayComeBeforeTheFirstActionOfAnEvent() {
        let sheet = Sheet(byEvent: true)
        let manager = sheet.undoManager
        sheet.write("a")
        manager.setActionName("first")
        manager.endEvent()
        manager.setActionName("second")
        #expect(manager.undoActionName == "first")
        sheet.write("b")
        #expect(manager.undoActionName == "second")
        manager.endEvent()
        #expect(manager.undoCount == 2)
    }

    @Test func aHandlerMayNameWhatItRecords() {
        let manager = UndoManager()
        let target = NSObject()
        manager.registerUndo(withTarget: target) { target in
            manager.registerUndo(withTarget: target) { _ in }
            manager.setActionName("again")
        }
        manager.setActionName("once")
        withExtendedLifetime(target) { manager.undo() }
        #expect(manager.redoActionName == "again")
    }

    private final class French: UndoManager {
        override func undoMenuTitle(forUndoActionName actionName: String) -> String { "Annuler \(actionName)" }
        override func redoMenuTitle(forUndoActionName actionName: String) -> String { "Rétablir \(actionName)" }
    }

    @Test func titlesCanBeOverridden() {
        let manager = French()
        let target = NSObject()
        manager.registerUndo(withTarget: target) { _ in }
        manager.setActionName("Nom")
        #expect(manager.undoMenuItemTitle == "Annuler Nom" && manager.redoMenuItemTitle == "Rétablir ")
        #expect(UndoManager().undoMenuTitle(forUndoActionName: "A") == "Undo A")
        #expect(UndoManager().redoMenuTitle(forUndoActionName: "A") == "Redo A")
    }

    @Test func userInfoGoesWithItsStep() {
        let sheet = Sheet()
        let manager = sheet.undoManager
        manager.setActionUserInfoValue("nowhere", forKey: .page)
        manager.beginUndoGrouping()
        sheet.write("a")
        manager.setActionUserInfoValue(7, forKey: .page)
        manager.setActionUserInfoValue(8, forKey: .line)
        manager.endUndoGrouping()
        #expect(manager.undoActionUserInfoValue(forKey: .page) as? Int == 7)
        #expect(manager.redoActionUserInfoValue(forKey: .page) == nil)
        manager.undo()
        #expect(manager.undoActionUserInfoValue(forKey: .page) == nil)
        #expect(manager.redoActionUserInfoValue(forKey: .line) as? Int == 8)
        manager.redo()
        manager.setActionUserInfoValue(nil, forKey: .line)
        #expect(manager.undoActionUserInfoValue(forKey: .page) as? Int == 7)
        #expect(manager.undoActionUserInfoValue(forKey: .line) == nil)
    }

    @Test func aStepIsDiscardableIfAllOfItIs() {
        let sheet = Sheet()
        let manager = sheet.undoManager
        let log = Log(manager)
        manager.setActionIsDiscardable(true)
        manager.beginUndoGrouping()
        sheet.write("a")
        manager.setActionIsDiscardable(true)
        #expect(manager.undoActionIsDiscardable)
        manager.endUndoGrouping()
        for word in ["closes", "closed"] {
            #expect(log.infos[word]?[NSUndoManagerGroupIsDiscardableKey] as? Bool == true)
        }
        manager.undo()
        #expect(!manager.undoActionIsDiscardable && manager.redoActionIsDiscardable)
        #expect(log.infos["undid"]?[NSUndoManagerGroupIsDiscardableKey] as? NSNumber == NSNumber(value: true))
        #expect(log.infos["undoes"] == nil && log.infos["checkpoint"] == nil && log.infos["opened"] == nil)
        manager.redo()
        #expect(manager.undoActionIsDiscardable && log.infos["redoes"] == nil)
        #expect(log.infos["redid"]?[NSUndoManagerGroupIsDiscardableKey] as? Bool == true)

        manager.beginUndoGrouping()
        sheet.step("b")
        manager.setActionIsDiscardable(true)
        sheet.write("c")
        #expect(!manager.undoActionIsDiscardable)
        manager.endUndoGrouping()
        #expect(log.infos["closes"] == nil && log.infos["closed"] == nil)
        manager.undo()
        #expect(!manager.redoActionIsDiscardable && log.infos["undid"] == nil)
        manager.redo()
        manager.setActionIsDiscardable(true)
        #expect(manager.undoActionIsDiscardable)
    }
}

extension UndoManager.UserInfoKey {
    static let page = UndoManager.UserInfoKey("page")
    static let line = UndoManager.UserInfoKey(rawValue: "line")
}
