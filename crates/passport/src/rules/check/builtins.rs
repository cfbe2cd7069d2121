//! Calls: functions of the language, tables and definitions.

use crate::rules::diagnostic::{Code, Diagnostic};
use crate::rules::program::{NodeId, Op};
use crate::rules::source::Span;
use crate::rules::syntax::ast::{Expr, ExprKind, Name};
use crate::rules::types::{Enums, Type};

use super::Checker;
use super::exprs::{callable, describe};
use super::names::{FUNCTIONS, Global};

impl Checker<'_> {
    pub(super) fn call(&mut self, name: &Name, args: &[Expr], want: Option<&Type>, span: Span) -> NodeId {
        match name.text.as_str() {
            "abs" => self.abs(args, span),
            "ratio" => self.ratio(args, span),
            "div" => self.div(args, span),
            "convert" => self.convert_call(args, span),
            "present" => self.present(args, span),
            "emitted" => self.emitted(args, span),
            "payload" => self.payload(args, span),
            "verdict" => self.verdict(args, span),
            "facts" => self.facts(args, span),
            "fact" => self.fact(args, span),
            "sku" => self.of_fact(args, span, "sku", Op::Sku),
            "key" => self.of_fact(args, span, "key", Op::Key),
            "contains_all" => self.contains_all(args, span),
            "month" => {
                let [date] = args else { return self.type_error(span, "write `month(date)`") };
                let date = self.expect(date, &Type::Date);
                self.add(Op::MonthOf(date), Type::Month, span)
            }
            "some" => match args {
                [value] => {
                    let node = self.infer(value, want.map(Type::present));
                    let ty = self.ty(node).clone().or_none();
                    self.coerce(node, &ty)
                }
                _ => self.type_error(span, "write `some(x)`"),
            },
            _ => self.own_call(name, args, span),
        }
    }

    fn own_call(&mut self, name: &Name, args: &[Expr], span: Span) -> NodeId {
        let package = self.package;
        let (params, result) = match self.global(&name.text) {
            Some(Global::Table(index)) => (&package.tables[index].params, &package.tables[index].result),
            Some(Global::Def(index)) => (&package.defs[index].params, &package.defs[index].result),
            Some(Global::Const(_)) => return self.type_error(span, format!("`{}` is a constant", name.text)),
            None => {
                let wrong = Diagnostic::new(
                    Code::RuleNameUnknown,
                    name.span,
                    format!("`{}` is not known here", name.text),
                );
                let known = callable(package).chain(FUNCTIONS.iter().copied());
                let wrong = wrong.did_you_mean(name.span, &name.text, known);
                // Mistakes in the arguments are worth telling as well.
                for arg in args {
                    if !matches!(arg.kind, ExprKind::Name(_)) {
                        self.infer(arg, None);
                    }
                }
                return self.wrong_node(wrong);
            }
        };
        if params.len() != args.len() {
            let message = format!("`{}` takes {} arguments, not {}", name.text, params.len(), args.len());
            return self.type_error(span, message);
        }
        let mut nodes = Vec::new();
        for (param, arg) in params.iter().zip(args) {
            let ty = self.written(&param.ty);
            nodes.push(self.expect(arg, &ty));
        }
        let ty = self.written(result);
        match self.global(&name.text) {
            Some(Global::Table(index)) => self.add(Op::Table(index, nodes), ty, span),
            Some(Global::Def(index)) => self.add(Op::Call(index, nodes), ty, span),
            _ => self.add(Op::Datapoints, Type::Wrong, span),
        }
    }

    fn present(&mut self, args: &[Expr], span: Span) -> NodeId {
        let [arg] = args else { return self.type_error(span, "write `present(x)`") };
        // What is asked here must not count as known.
        let path = self.path(arg);
        if path.is_some_and(|path| self.scope.is_present(&path)) {
            let wrong = Diagnostic::new(Code::RuleTypeError, span, "this is known to be present here");
            return self.wrong_node(wrong.help("leave the question out"));
        }
        let node = self.infer(arg, None);
        match self.ty(node).clone() {
            Type::Wrong => self.add(Op::Datapoints, Type::Wrong, span),
            Type::Opt(_) => self.add(Op::Present(node, describe(arg)), Type::Bool, span),
            ty if ty.is_integer() => {
                let node = self.datapoint(node);
                self.add(Op::HasValue(node), Type::Bool, span)
            }
            other => {
                let message = format!("this {} is always there", self.show(&other));
                let wrong = Diagnostic::new(Code::RuleTypeError, arg.span, message);
                self.wrong_node(wrong.help("`present` asks about an `Opt` or a data point"))
            }
        }
    }

    fn emitted(&mut self, args: &[Expr], span: Span) -> NodeId {
        let [arg] = args else { return self.type_error(span, "write `emitted(data_point)`") };
        let node = self.infer(arg, None);
        let node = self.datapoint(node);
        self.add(Op::Emitted(node), Type::Bool, span)
    }

    fn datapoint(&mut self, node: NodeId) -> NodeId {
        let last = self.names.datapoints;
        if last == 0 {
            let span = self.span(node);
            return self
                .type_error(span, "the package does not number data points; write `datapoints 1..71;`");
        }
        // A literal knows its value; anything else must be known to be in range.
        if let Op::Lit(crate::rules::program::Lit::Int(number)) = self.nodes[node.0 as usize].op
            && (1..=last).contains(&number)
        {
            return node;
        }
        self.coerce(node, &Type::Range(1, last))
    }

    fn payload(&mut self, args: &[Expr], span: Span) -> NodeId {
        let pointer = match args {
            [Expr { kind: ExprKind::Pointer(pointer), .. }] => pointer,
            _ => return self.type_error(span, "write `payload(/pointer)`"),
        };
        let package = self.package;
        let mut pointers: Vec<_> = package.emits.iter().collect();
        pointers.sort_by(|left, right| left.pointer.text.cmp(&right.pointer.text));
        match pointers.iter().position(|emit| emit.pointer.text == *pointer) {
            Some(index) => {
                let ty = self.written(&pointers[index].ty).or_none();
                self.add(Op::Payload(index), ty, span)
            }
            None => {
                let message = format!("nothing is emitted at `{pointer}`");
                let wrong = Diagnostic::new(Code::RuleNameUnknown, args[0].span, message);
                let known = pointers.iter().map(|emit| emit.pointer.text.as_str());
                self.wrong_node(wrong.did_you_mean(args[0].span, pointer, known))
            }
        }
    }

    fn verdict(&mut self, args: &[Expr], span: Span) -> NodeId {
        let rule = match args {
            [Expr { kind: ExprKind::Rule(rule), .. }] => rule,
            _ => return self.type_error(span, "write `verdict(RULE.NAME)`"),
        };
        let mut ids: Vec<_> = self.package.rules.iter().map(|rule| rule.id.text.as_str()).collect();
        ids.sort_unstable();
        match ids.iter().position(|id| id == rule) {
            Some(index) => self.add(Op::VerdictOf(index), Type::Enum(Enums::VERDICT), span),
            None => {
                let wrong = Diagnostic::new(
                    Code::RuleNameUnknown,
                    args[0].span,
                    format!("there is no rule `{rule}`"),
                );
                self.wrong_node(wrong.did_you_mean(args[0].span, rule, ids))
            }
        }
    }

    fn facts(&mut self, args: &[Expr], span: Span) -> NodeId {
        let [Expr { kind: ExprKind::Name(name), span: at }] = args else {
            return self.type_error(span, "write `facts(FactType)`");
        };
        match self.fact_type(&Name { text: name.clone(), span: *at }) {
            Some(fact) => self.add(Op::Facts(fact), Type::List(Box::new(Type::Fact(fact))), span),
            None => self.add(Op::Datapoints, Type::Wrong, span),
        }
    }

    fn fact(&mut self, args: &[Expr], span: Span) -> NodeId {
        let [Expr { kind: ExprKind::Name(name), span: at }, key] = args else {
            return self.type_error(span, "write `fact(FactType, key)`");
        };
        let fact = self.fact_type(&Name { text: name.clone(), span: *at });
        let key = self.expect(key, &Type::Text);
        match fact {
            Some(fact) => self.add(Op::FactBy(fact, key), Type::Fact(fact).or_none(), span),
            None => self.add(Op::Datapoints, Type::Wrong, span),
        }
    }

    fn of_fact(&mut self, args: &[Expr], span: Span, name: &str, op: fn(NodeId) -> Op) -> NodeId {
        let [fact] = args else { return self.type_error(span, format!("write `{name}(fact)`")) };
        let node = self.infer(fact, None);
        match self.ty(node).clone() {
            Type::Fact(_) => self.add(op(node), Type::Text, span),
            Type::Wrong => node,
            other => {
                let message = format!("expected a fact, found {}", self.show(&other));
                self.type_error(fact.span, message)
            }
        }
    }

    fn contains_all(&mut self, args: &[Expr], span: Span) -> NodeId {
        let [whole, part] = args else { return self.type_error(span, "write `contains_all(list, list)`") };
        let whole = self.infer(whole, None);
        let ty = self.ty(whole).clone();
        let element = match &ty {
            Type::Wrong => return whole,
            Type::List(element) => (**element).clone(),
            other => {
                let message = format!("expected a list, found {}", self.show(other));
                let span = self.span(whole);
                return self.type_error(span, message);
            }
        };
        if !element.is_scalar() {
            let message = format!("elements of {} cannot be compared", self.show(&ty));
            return self.type_error(span, message);
        }
        let part = self.expect(part, &ty);
        self.add(Op::ContainsAll(whole, part), Type::Bool, span)
    }
}
