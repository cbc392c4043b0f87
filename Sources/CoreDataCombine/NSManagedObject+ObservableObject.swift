#if OpenCombine
    public import CoreData
    public import OpenCombine

    /// An object announces changes, as observable objects of an application do:
    ///
    ///     let changes = item.objectWillChange.sink { view.isStale = true }
    ///     item.name = "Milk"          // the publisher has sent, and item.name was still the former one
    ///
    /// It sends before each change of a property: by a setter, the other side of a relationship, undo, rollback, a
    /// refresh or a merge, on the queue of the object's context. An object whose publisher was never read has
    /// no overhead.
    ///
    /// Differs from Apple: it does not send when a fault's values are read.
    extension NSManagedObject: ObservableObject {
        public var objectWillChange: ObservableObjectPublisher {
            announcer {
                ObservableObjectPublisher()
            } announce: {
                $0.send()
            }
        }
    }
#endif
