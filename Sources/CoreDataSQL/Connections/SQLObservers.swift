/// Combines several observers into one.
package final class SQLObservers: SQLObserver {
    private let observers: [any SQLObserver]

    private init(_ observers: [any SQLObserver]) { self.observers = observers }

    /// Returns one observer that notifies all of them; `nil` for none.
    package static func combining(_ observers: [any SQLObserver]) -> (any SQLObserver)? {
        observers.count > 1 ? SQLObservers(observers) : observers.first
    }

    package func willRun(_ sql: String, bindings: [SQLValue]) throws {
        for observer in observers { try observer.willRun(sql, bindings: bindings) }
    }

    package func didRun(_ sql: String, duration: Duration, rows: Int) {
        for observer in observers { observer.didRun(sql, duration: duration, rows: rows) }
    }

    package func note(_ text: String) {
        for observer in observers { observer.note(text) }
    }
}
