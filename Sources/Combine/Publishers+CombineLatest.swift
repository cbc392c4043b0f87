// Publishers that Apple's Combine has and OpenCombine lacks: what combines the latest elements of several.
//
// Nothing is published until each of them has published; the publisher ends when all have ended, or with the first
// failure.
#if OpenCombine
    import OpenCombine

    extension Publishers {
        /// Publishes the latest elements of two publishers whenever one of them publishes.
        public struct CombineLatest<A: Publisher, B: Publisher>: Publisher
        where A.Failure == B.Failure {
            public typealias Output = (A.Output, B.Output)
            public typealias Failure = A.Failure

            public let a: A
            public let b: B

            /// Combines the publishers.
            public init(_ a: A, _ b: B) {
                (self.a, self.b) = (a, b)
            }

            private enum Element {
                case a(A.Output)
                case b(B.Output)
            }

            private struct Latest {
                var a: A.Output?
                var b: B.Output?

                func with(_ element: Element) -> Latest {
                    var latest = self
                    switch element {
                    case .a(let value): latest.a = value
                    case .b(let value): latest.b = value
                    }
                    return latest
                }

                var output: Output? {
                    guard let a, let b else { return nil }
                    return (a, b)
                }
            }

            public func receive<S: Subscriber>(subscriber: S) where S.Failure == Failure, S.Input == Output {
                Merge(a.map(Element.a), b.map(Element.b))
                    .scan(Latest()) { $0.with($1) }
                    .compactMap(\.output)
                    .receive(subscriber: subscriber)
            }
        }

        /// Publishes the latest elements of three publishers whenever one of them publishes.
        public struct CombineLatest3<A: Publisher, B: Publisher, C: Publisher>: Publisher
        where A.Failure == B.Failure, B.Failure == C.Failure {
            public typealias Output = (A.Output, B.Output, C.Output)
            public typealias Failure = A.Failure

            public let a: A
            public let b: B
            public let c: C

            /// Combines the publishers.
            public init(_ a: A, _ b: B, _ c: C) {
                (self.a, self.b, self.c) = (a, b, c)
            }

            private enum Element {
                case a(A.Output)
                case b(B.Output)
                case c(C.Output)
            }

            private struct Latest {
                var a: A.Output?
                var b: B.Output?
                var c: C.Output?

                func with(_ element: Element) -> Latest {
                    var latest = self
                    switch element {
                    case .a(let value): latest.a = value
                    case .b(let value): latest.b = value
                    case .c(let value): latest.c = value
                    }
                    return latest
                }

                var output: Output? {
                    guard let a, let b, let c else { return nil }
                    return (a, b, c)
                }
            }

            public func receive<S: Subscriber>(subscriber: S) where S.Failure == Failure, S.Input == Output {
                Merge3(a.map(Element.a), b.map(Element.b), c.map(Element.c))
                    .scan(Latest()) { $0.with($1) }
                    .compactMap(\.output)
                    .receive(subscriber: subscriber)
            }
        }

        /// Publishes the latest elements of four publishers whenever one of them publishes.
        public struct CombineLatest4<A: Publisher, B: Publisher, C: Publisher, D: Publisher>: Publisher
        where A.Failure == B.Failure, B.Failure == C.Failure, C.Failure == D.Failure {
            public typealias Output = (A.Output, B.Output, C.Output, D.Output)
            public typealias Failure = A.Failure

            public let a: A
            public let b: B
            public let c: C
            public let d: D

            /// Combines the publishers.
            public init(_ a: A, _ b: B, _ c: C, _ d: D) {
                (self.a, self.b, self.c, self.d) = (a, b, c, d)
            }

            private enum Element {
                case a(A.Output)
                case b(B.Output)
                case c(C.Output)
                case d(D.Output)
            }

            private struct Latest {
                var a: A.Output?
                var b: B.Output?
                var c: C.Output?
                var d: D.Output?

                func with(_ element: Element) -> Latest {
                    var latest = self
                    switch element {
                    case .a(let value): latest.a = value
                    case .b(let value): latest.b = value
                    case .c(let value): latest.c = value
                    case .d(let value): latest.d = value
                    }
                    return latest
                }

                var output: Output? {
                    guard let a, let b, let c, let d else { return nil }
                    return (a, b, c, d)
                }
            }

            public func receive<S: Subscriber>(subscriber: S) where S.Failure == Failure, S.Input == Output {
                Merge4(a.map(Element.a), b.map(Element.b), c.map(Element.c), d.map(Element.d))
                    .scan(Latest()) { $0.with($1) }
                    .compactMap(\.output)
                    .receive(subscriber: subscriber)
            }
        }
    }

    extension Publisher {
        /// Publishes the latest elements of this publisher and another one.
        public func combineLatest<P: Publisher>(_ other: P) -> Publishers.CombineLatest<Self, P>
        where P.Failure == Failure {
            Publishers.CombineLatest(self, other)
        }

        /// Publishes what the function makes of the latest elements of this publisher and another one.
        public func combineLatest<P: Publisher, T>(
            _ other: P, _ transform: @escaping (Output, P.Output) -> T
        ) -> Publishers.Map<Publishers.CombineLatest<Self, P>, T> where P.Failure == Failure {
            Publishers.CombineLatest(self, other).map { transform($0.0, $0.1) }
        }

        /// Publishes the latest elements of this publisher and 2 others.
        public func combineLatest<P: Publisher, Q: Publisher>(
            _ publisher1: P, _ publisher2: Q
        ) -> Publishers.CombineLatest3<Self, P, Q>
        where P.Failure == Failure, Q.Failure == Failure {
            Publishers.CombineLatest3(self, publisher1, publisher2)
        }

        /// Publishes what the function makes of the latest elements of this publisher and 2 others.
        public func combineLatest<P: Publisher, Q: Publisher, T>(
            _ publisher1: P, _ publisher2: Q, _ transform: @escaping (Output, P.Output, Q.Output) -> T
        ) -> Publishers.Map<Publishers.CombineLatest3<Self, P, Q>, T> where P.Failure == Failure, Q.Failure == Failure {
            Publishers.CombineLatest3(self, publisher1, publisher2).map { transform($0.0, $0.1, $0.2) }
        }

        /// Publishes the latest elements of this publisher and 3 others.
        public func combineLatest<P: Publisher, Q: Publisher, R: Publisher>(
            _ publisher1: P, _ publisher2: Q, _ publisher3: R
        ) -> Publishers.CombineLatest4<Self, P, Q, R>
        where P.Failure == Failure, Q.Failure == Failure, R.Failure == Failure {
            Publishers.CombineLatest4(self, publisher1, publisher2, publisher3)
        }

        /// Publishes what the function makes of the latest elements of this publisher and 3 others.
        public func combineLatest<P: Publisher, Q: Publisher, R: Publisher, T>(
            _ publisher1: P, _ publisher2: Q, _ publisher3: R,
            _ transform: @escaping (Output, P.Output, Q.Output, R.Output) -> T
        ) -> Publishers.Map<Publishers.CombineLatest4<Self, P, Q, R>, T>
        where P.Failure == Failure, Q.Failure == Failure, R.Failure == Failure {
            Publishers.CombineLatest4(self, publisher1, publisher2, publisher3).map {
                transform($0.0, $0.1, $0.2, $0.3)
            }
        }
    }

    extension Publishers.CombineLatest: Equatable where A: Equatable, B: Equatable {}

    extension Publishers.CombineLatest3: Equatable where A: Equatable, B: Equatable, C: Equatable {}

    extension Publishers.CombineLatest4: Equatable where A: Equatable, B: Equatable, C: Equatable, D: Equatable {}
#endif
