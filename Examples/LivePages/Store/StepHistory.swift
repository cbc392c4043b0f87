import CoreData
import Foundation

/// The browser whose form the server answers at the moment; the steps of ``LiveContext/perform(_:_:)`` belong to it.
package enum Browser {
    /// The browser's secret; `nil` outside of a form, as in an import.
    @TaskLocal package static var current: String?
}

/// The steps of one browser.
@MainActor package final class StepHistory {
    /// How many steps a browser can undo.
    package static let levels = 50
    /// How many browsers have a history; the one that was not used for longest loses its own.
    static let most = 40

    let browser: String
    /// The steps that can be undone, oldest first.
    private(set) var done: [Step] = []
    /// The steps that can be done again, the one that was undone last at the end.
    private(set) var undone: [Step] = []

    init(browser: String) { self.browser = browser }

    /// The name of the step that Undo undoes; `nil` where there is none.
    package var undoName: String? { done.last?.name }

    /// The name of the step that Redo does again; `nil` where there is none.
    package var redoName: String? { undone.last?.name }

    /// Adds a new step, after which nothing can be done again.
    func add(_ step: Step) {
        undone = []
        keep(step)
    }

    /// Adds a step that was done again.
    func keep(_ step: Step) {
        done.append(step)
        if done.count > Self.levels { done.removeFirst() }
    }

    func keepForRedo(_ step: Step) { undone.append(step) }

    func drop(_ step: Step) {
        done.removeAll { $0 === step }
        undone.removeAll { $0 === step }
    }
}

/// A change that one browser made, with an undo manager of its own: a step that cannot be undone any more is dropped alone.
@MainActor final class Step {
    /// Changes when the step is done again.
    var number: Int
    let name: String
    let manager: StepUndoManager
    /// The objects of the step as it left them, or as undoing it left them.
    var state: StepState

    init(number: Int, name: String, manager: StepUndoManager, state: StepState) {
        self.number = number
        self.name = name
        self.manager = manager
        self.state = state
    }
}

/// The undo manager of one step.
final class StepUndoManager: UndoManager {
    override init() {
        super.init()
        groupsByEvent = false
        disableUndoRegistration()
    }

    /// Does nothing: a context that gets another undo manager removes its actions from the former one, whose step stays.
    override func removeAllActions(withTarget target: Any) {}
}
